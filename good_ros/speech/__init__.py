"""Hearing and speaking, without ROS: sound sources, voice activity, recognition, a voice."""
