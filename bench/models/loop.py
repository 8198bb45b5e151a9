"""The models as loops over objects in Python, as their authors write them: python3 bench/models/loop.py money 10000 100

Prints one line of JSON: the microseconds of CPU for an agent and step, and the peak of memory of the process. `virus` and `opinion` need networkx.
"""

import json
import random
import resource
import sys
import time

model, n, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
R = random.Random(1)


class Person:
    def __init__(self):
        self.coins = 1

    def step(self, agents):
        if self.coins > 0:
            other = R.choice(agents)
            other.coins += 1
            self.coins -= 1


class Node:
    def __init__(self):
        self.state = 0
        self.near = []

    def step(self, agents):
        if self.state == 1:
            for other in self.near:
                if other.state == 0 and R.random() < 0.2:
                    other.state = 1
            if R.random() < 0.1:
                self.state = 2


class Opinion:
    def __init__(self):
        self.x = R.random()
        self.near = []

    def step(self, agents):
        total = 0
        for other in self.near:
            total += other.x
        self.x = (self.x + total / len(self.near)) / 2


class Cell:
    """A place of Schelling's town, with the kind of who lives there."""

    def __init__(self):
        draw = R.random()
        self.kind = 1 if draw < 0.4 else 2 if draw < 0.8 else 0
        self.near = []

    def step(self, agents):
        if self.kind == 0:
            return
        same = others = 0
        for other in self.near:
            if other.kind == self.kind:
                same += 1
            elif other.kind != 0:
                others += 1
        if same < 0.3 * (same + others):
            to = R.choice(agents)
            if to.kind == 0:
                to.kind, self.kind = self.kind, 0


def graph(agents):
    import networkx

    links = networkx.watts_strogatz_graph(len(agents), 6, 0.1, seed=1)
    for place, agent in enumerate(agents):
        agent.near = [agents[other] for other in links[place]]


def grid(agents):
    side = round(len(agents) ** 0.5)
    around = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1) if x or y]
    for place, agent in enumerate(agents):
        agent.near = [agents[(place // side + y) % side * side + (place + x) % side] for x, y in around]


kinds = {"money": Person, "ticks": Person, "virus": Node, "opinion": Opinion, "schelling": Cell}
if model == "schelling":
    n = round(n**0.5) ** 2
agents = [kinds[model]() for _ in range(n)]
if model in ("virus", "opinion"):
    graph(agents)
if model == "schelling":
    grid(agents)
if model == "virus":
    for agent in agents[: max(1, n // 50)]:
        agent.state = 1
began = time.process_time()
for _ in range(steps):
    order = list(agents)
    R.shuffle(order)
    for agent in order:
        agent.step(agents)
us = (time.process_time() - began) * 1e6 / n / steps
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"us": us, "rss": peak}))
