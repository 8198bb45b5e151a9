import { assign, createActor, enqueueActions, sendTo, setup } from "xstate";

export const cases = {
  hop(n) {
    return new Promise((resolve) => {
      const player = setup({}).createMachine({
        context: { count: 0 },
        on: {
          ball: {
            actions: enqueueActions(({ enqueue, event, system }) => {
              enqueue.assign({ count: event.count });
              if (event.count >= n) resolve({ done: event.count });
              else enqueue.sendTo(system.get(event.to), { type: "ball", count: event.count + 1, to: event.to === "one" ? "other" : "one" });
            }),
          },
        },
      });
      const table = createActor(
        setup({ actors: { player } }).createMachine({
          invoke: [
            { src: "player", systemId: "one" },
            { src: "player", systemId: "other" },
          ],
        }),
      );
      table.start();
      table.system.get("one").send({ type: "ball", count: 0, to: "other" });
    });
  },

  fanout(n) {
    let acted = 0;
    const listener = setup({}).createMachine({ context: { seen: 0 }, on: { go: { actions: [assign({ seen: 1 }), () => (acted += 1)] } } });
    const hub = createActor(
      setup({}).createMachine({
        context: { all: [] },
        entry: assign({ all: ({ spawn }) => Array.from({ length: n }, () => spawn(listener)) }),
        on: {
          go: { actions: enqueueActions(({ enqueue, context }) => context.all.forEach((one) => enqueue.sendTo(one, { type: "go" }))) },
        },
      }),
    );
    hub.start();
    hub.send({ type: "go" });
    return { done: acted };
  },

  fanin(n) {
    return new Promise((resolve) => {
      let heard = 0;
      const speaker = setup({}).createMachine({ on: { go: { actions: sendTo(({ system }) => system.get("hub"), { type: "said" }) } } });
      const hub = createActor(
        setup({}).createMachine({
          context: { all: [] },
          entry: assign({ all: ({ spawn }) => Array.from({ length: n }, () => spawn(speaker)) }),
          on: {
            said: {
              actions: () => {
                heard += 1;
                if (heard === n) resolve({ done: heard });
              },
            },
          },
        }),
        { systemId: "hub" },
      );
      hub.start();
      for (const one of hub.getSnapshot().context.all) one.send({ type: "go" });
    });
  },

  idle(n) {
    const machine = setup({}).createMachine({ context: { seen: 0 }, on: { go: { actions: assign({ seen: 1 }) } } });
    return { keep: Array.from({ length: n }, () => createActor(machine).start()) };
  },
};
