"""Experiments as YAML files say."""

import pytest
import yaml

from good_ros.core.errors import InputError
from good_ros.core.resources import config_folder
from good_ros.experiments.spec import SessionKey, load_spec


def spec_of(tmp_path, **fields):
    path = tmp_path / "toy.yaml"
    path.write_text(yaml.safe_dump(fields))
    return load_spec(path)


def test_an_empty_experiment_is_everything_on_the_default_model(tmp_path):
    spec = spec_of(tmp_path, trials=2)
    assert spec.name == "toy"
    assert {domain: len(names) for domain, names in spec.profiles.items()} == {
        "robot": 5,
        "grocery": 10,
    }
    assert spec.variants == ("ours", "ours_paper", "no_goals", "no_inference")
    assert len(spec.sessions()) == len(set(spec.sessions())) == 15 * 4 * 2
    assert spec.scorer == "default"


def test_the_variants_of_a_trial_share_its_seed_and_trials_do_not(tmp_path):
    spec = spec_of(tmp_path, seed=7, trials=2)
    seeds = {spec.seed_of(SessionKey("robot", "p", v, t)) for v in spec.variants for t in (0, 1)}
    assert seeds == {7, 1007}


def test_the_belief_of_a_served_model_takes_the_default_one(tmp_path):
    assert spec_of(tmp_path, model="http://x/v1").scorer == "default"
    assert spec_of(tmp_path, model="small").scorer == "small"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"trails": 3}, "unknown: trails"),
        ({"trials": 0}, "trials must be a whole number from 1 on"),
        ({"trials": True}, "trials"),
        ({"deadline_s": "soon"}, "deadline_s"),
        ({"variants": ["theirs"]}, "there is no variant theirs; there are ours"),
        ({"variants": "ours"}, "variants must be a list"),
        ({"domains": ["sea"]}, "there is no domain sea"),
        ({"domains": ["robot"], "profiles": ["chocolate_cake"]}, "is of the domain grocery"),
        ({"profiles": ["chocolate_cake"]}, "no profile is of the domain robot"),
        ({"profiles": ["nobody"]}, "there is no profile 'nobody'"),
        ({"prices": {"model": {"in": -1}}}, "a price of model"),
        ({"prices": {"dog": {"in": 1}}}, "prices are of model, scoring, judge"),
        ({"workers": 2, "model": "small"}, "workers must be 1"),
        ({"graph": True}, "there are no nodes for no_goals, no_inference"),
        ({"isolated": {"limit": 3}}, "isolated needs data"),
        ({"model": 3}, "model must be a text"),
        ({"store_search": "telepathy"}, "store_search"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_the_file(tmp_path, fields, problem):
    with pytest.raises(InputError, match=r"toy\.yaml: ") as error:
        spec_of(tmp_path, **fields)
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_no_file_and_no_yaml(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load_spec(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(InputError, match="is not YAML"):
        load_spec(tmp_path / "bad.yaml")


def test_the_experiments_that_come_with_the_project():
    found = {p.stem: load_spec(p) for p in (config_folder() / "experiments").glob("*.yaml")}
    smoke, local, paper = found["smoke"], found["local"], found["paper"]
    assert {len(names) for names in smoke.profiles.values()} == {1}
    assert len(smoke.variants) == 4
    assert local.model == "default"
    assert local.trials >= 3
    assert sum(map(len, local.profiles.values())) == 15
    assert (paper.trials, paper.rounds) == (5, 20)
    assert paper.served_judge_model == "gpt-4o-mini"
