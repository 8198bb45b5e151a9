"""Mesa: agents that are activated at once in each step, and messages are tuples that are sent by name.

    pip install "mesa<4"
    python3 bench/population/mesa_actors.py random 10000

Mesa has no messages. Here a message is a tuple of the fields that the other programs have, an agent has a box for this step and one for the
next, and a dictionary finds an agent by its name. Prints one line of JSON: the microseconds of CPU for a message, and the peak of memory of the process.
"""

import json
import resource
import sys
import time
from typing import NamedTuple

import mesa

MESSAGES = 60_000


class Message(NamedTuple):
    id: str
    content: str
    role: str
    cause_by: str
    sent_from: str
    send_to: tuple
    parents: tuple
    timestamp: int


class Actor(mesa.Agent):
    def __init__(self, model, place):
        super().__init__(model)
        self.place = place
        self.name = f"p{place}"
        self.box = [Message("user#1", "go", "user", "Start", "", (), (), 0)]
        self.arriving = []
        self.seen = 0
        self.acted = 0

    def step(self):
        model = self.model
        for said, message in enumerate(self.box):
            self.seen += 1
            place = (self.place + 1) % model.n if model.world == "ring" else model.random.randrange(model.n)
            to = f"p{place}"
            name = f"{self.name}#{self.acted}.{said}"
            sent = Message(name, message.content, "assistant", "Actor", self.name, (to,), (message.id,), 0)
            model.by_name[to].arriving.append(sent)
        self.box = []
        self.acted += 1

    def advance(self):
        self.box, self.arriving = self.arriving, []


class World(mesa.Model):
    def __init__(self, world, n):
        super().__init__(seed=1)
        self.world = world
        self.n = n
        self.by_name = {}
        for place in range(n):
            actor = Actor(self, place)
            self.by_name[actor.name] = actor

    def step(self):
        self.agents.do("step")
        self.agents.do("advance")

    def seen(self):
        return sum(actor.seen for actor in self.by_name.values())


world, n = sys.argv[1], int(sys.argv[2])
model = World(world, n)
model.step()
before = model.seen()
began = time.process_time()
for _ in range(max(2, min(400, MESSAGES // n))):
    model.step()
spent = time.process_time() - began
messages = model.seen() - before
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
told = {"peer": "mesa", "version": mesa.__version__, "world": world, "n": n, "messages": messages, "us": spent * 1e6 / messages, "rss": peak}
print(json.dumps(told))
