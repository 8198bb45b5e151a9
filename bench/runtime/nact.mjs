import { dispatch, spawn, start, stop } from "nact";

/** Runs until an actor says that all is done. */
function settled(begin) {
  return new Promise((resolve) => {
    const system = start();
    begin(system, (done) => {
      stop(system);
      resolve({ done });
    });
  });
}

export const cases = {
  hop(n) {
    return settled((system, end) => {
      const player = (name) =>
        spawn(
          system,
          (_state, { count, from }, { self }) => {
            if (count >= n) return end(count);
            dispatch(from, { count: count + 1, from: self });
            return { seen: count };
          },
          name,
        );
      const [one, other] = [player("one"), player("other")];
      dispatch(one, { count: 0, from: other });
    });
  },

  chain(n) {
    return settled((system, end) => {
      let passed = 0;
      let next;
      for (let place = 99; place >= 0; place -= 1) {
        const after = next;
        next = spawn(
          system,
          (_state, message) => {
            passed += 1;
            if (after !== undefined) dispatch(after, message);
            else if (passed >= n * 100) end(passed);
          },
          `link${place}`,
        );
      }
      for (let run = 0; run < n; run += 1) dispatch(next, { run });
    });
  },

  fanout(n) {
    return settled((system, end) => {
      let acted = 0;
      const listeners = Array.from({ length: n }, (_, place) =>
        spawn(
          system,
          () => {
            acted += 1;
            if (acted === n) end(acted);
          },
          `listener${place}`,
        ),
      );
      const speaker = spawn(
        system,
        () => {
          for (const listener of listeners) dispatch(listener, { text: "go" });
        },
        "speaker",
      );
      dispatch(speaker, {});
    });
  },

  fanin(n) {
    return settled((system, end) => {
      let heard = 0;
      const hub = spawn(
        system,
        () => {
          heard += 1;
          if (heard === n) end(heard);
        },
        "hub",
      );
      const speakers = Array.from({ length: n }, (_, place) => spawn(system, () => dispatch(hub, { place }), `speaker${place}`));
      for (const speaker of speakers) dispatch(speaker, {});
    });
  },

  idle(n) {
    const system = start();
    return { keep: Array.from({ length: n }, (_, place) => spawn(system, () => {}, `actor${place}`)) };
  },
};
