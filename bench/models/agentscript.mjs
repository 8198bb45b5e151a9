/* AgentScript: agents that change each other at once, without messages and without a record. */
globalThis.OffscreenCanvas = class {
  getContext() {
    return {};
  }
};
const { Model } = await import("agentscript");

class Money extends Model {
  setup(n) {
    this.turtles.create(n, (turtle) => (turtle.coins = 1));
  }

  step() {
    this.turtles.ask((turtle) => {
      if (turtle.coins === 0) return;
      this.turtles.oneOf().coins += 1;
      turtle.coins -= 1;
    });
  }
}

export async function run(model, n, steps, measured) {
  const world = new Money({ minX: -10, maxX: 10, minY: -10, maxY: 10, minZ: -1, maxZ: 1 });
  await world.startup?.();
  world.setup(n);
  const told = await measured(async () => {
    for (let count = 0; count < steps; count += 1) world.step();
  });
  return { ...told, agents: n, check: () => 0 };
}
