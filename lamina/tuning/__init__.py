"""Choosing schedules by measurement, where the estimates that choose by default are not enough."""
