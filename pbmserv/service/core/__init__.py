"""Actors, contexts, answers and refusals, which every feature uses."""
