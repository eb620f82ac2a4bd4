"""Networks of Darknet: a `.cfg` of sections, and a `.weights` file of the numbers in their order."""
