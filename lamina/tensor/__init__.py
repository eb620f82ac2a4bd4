"""Tensor expressions and their schedules compiled by themselves: lower, build, modules, devices."""
