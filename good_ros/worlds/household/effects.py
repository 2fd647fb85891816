"""What follows from the state of a room: running water, heat, cold, coffee (AI2-THOR's rules).

Applied after every action. Each effect is one way: what is taken off a burner stays cooked
and hot, as in the engine until its own timers run out.
"""

from __future__ import annotations

from collections.abc import Iterator

from good_ros.worlds.household.state import ObjectState, SceneState

BASINS = ("SinkBasin", "BathtubBasin")
NOT_TOASTED_BY_MICROWAVE = frozenset({"BreadSliced"})


def settle(state: SceneState) -> SceneState:
    """The state with all that follows from it."""
    for source_id in state.sources:
        source = state.objects[source_id]
        if source.type == "Fridge":
            for item in state.inside(source_id):
                if item.temperature != "Cold":
                    state = state.change(item.id, temperature="Cold")
        elif not source.is_toggled:
            continue
        elif source.type == "Faucet":
            state = _run_water(state, source)
        elif source.type == "CoffeeMachine":
            state = _make_coffee(state, source)
        else:
            spared = NOT_TOASTED_BY_MICROWAVE if source.type == "Microwave" else frozenset()
            state = _heat(state, source, spared)
    return state


def _heat(state: SceneState, source: ObjectState, not_cooked: frozenset[str]) -> SceneState:
    for item in state.inside(source.id):
        if item.temperature != "Hot":
            state = state.change(item.id, temperature="Hot")
        if item.can("cookable") and not item.is_cooked and item.type not in not_cooked:
            state = state.change(item.id, is_cooked=True)
    return state


def _run_water(state: SceneState, faucet: ObjectState) -> SceneState:
    """Water fills what stands under the faucet and cleans it."""
    for basin in _under(state, faucet):
        for item in state.inside(basin.id):
            if item.can("canFillWithLiquid") and not item.liquid:
                state = state.change(item.id, liquid="water")
            if item.is_dirty:
                state = state.change(item.id, is_dirty=False)
    return state


def _under(state: SceneState, faucet: ObjectState) -> Iterator[ObjectState]:
    """The basin that a faucet runs into: the nearest one, and the sink that it is part of."""
    basins = [o for o in state.objects.values() if o.type in BASINS]
    if not basins:
        return
    nearest = min(basins, key=lambda o: _distance(o, faucet))
    yield nearest
    whole = state.objects.get(nearest.id.rpartition("|")[0])
    if whole is not None and whole.can("receptacle"):
        yield whole


def _make_coffee(state: SceneState, machine: ObjectState) -> SceneState:
    for item in state.inside(machine.id):
        if item.can("canFillWithLiquid") and not item.liquid:
            state = state.change(item.id, liquid="coffee", temperature="Hot")
    return state


def _distance(first: ObjectState, second: ObjectState) -> float:
    return sum((a - b) ** 2 for a, b in zip(first.position, second.position, strict=True))
