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

  chain(n) {
    let passed = 0;
    const link = setup({}).createMachine({
      context: ({ input }) => ({ place: input.place }),
      on: {
        go: {
          actions: enqueueActions(({ enqueue, event, context, system }) => {
            if (context.place === 99) passed += 1;
            else enqueue.sendTo(system.get(`link${context.place + 1}`), event);
          }),
        },
      },
    });
    const chain = createActor(
      setup({ actors: { link } }).createMachine({
        invoke: Array.from({ length: 100 }, (_, place) => ({ src: "link", systemId: `link${place}`, input: { place } })),
      }),
    );
    chain.start();
    const first = chain.system.get("link0");
    const from = performance.now();
    for (let run = 0; run < n; run += 1) first.send({ type: "go", run });
    return { done: passed, ms: performance.now() - from };
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
    const from = performance.now();
    hub.send({ type: "go" });
    return { done: acted, ms: performance.now() - from };
  },

  fanin(n) {
    return new Promise((resolve) => {
      let heard = 0;
      let from = 0;
      const speaker = setup({}).createMachine({ on: { go: { actions: sendTo(({ system }) => system.get("hub"), { type: "said" }) } } });
      const hub = createActor(
        setup({}).createMachine({
          context: { all: [] },
          entry: assign({ all: ({ spawn }) => Array.from({ length: n }, () => spawn(speaker)) }),
          on: {
            said: {
              actions: () => {
                heard += 1;
                if (heard === n) resolve({ done: heard, ms: performance.now() - from });
              },
            },
          },
        }),
        { systemId: "hub" },
      );
      hub.start();
      from = performance.now();
      for (const one of hub.getSnapshot().context.all) one.send({ type: "go" });
    });
  },

  idle(n) {
    const machine = setup({}).createMachine({ context: { seen: 0 }, on: { go: { actions: assign({ seen: 1 }) } } });
    return { keep: Array.from({ length: n }, () => createActor(machine).start()) };
  },

  million(n) {
    return { done: n, ...cases.idle(n) };
  },
};
