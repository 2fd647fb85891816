"""PROMST: prompts for tasks of many steps, improved from rules of feedback and a score model.

Source: *PRompt Optimization in Multi-Step Tasks* (PROMST); section numbers in this package are
that paper's. Facts on its environments are stated beside each.
"""
