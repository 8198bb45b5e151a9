/* nact: the same actors, without rounds, because it has none: as many messages as a round of that size has, times the rounds. */
import { dispatch, spawn, start, stop } from "nact";
import { generator, nameOf, roundsFor, WARM } from "./worlds.mjs";

export async function population(n, world, measured) {
  const random = generator(1);
  const system = start();
  let left = 0;
  let done;
  const actors = Array.from({ length: n }, (_, place) =>
    spawn(
      system,
      (state = { seen: 0 }, message, { self }) => {
        left -= 1;
        if (left >= n)
          dispatch(actors[world === "ring" ? (place + 1) % n : Math.floor(random() * n)], { content: message.content, from: self });
        if (left === 0) done();
        return { seen: state.seen + 1 };
      },
      nameOf(place),
    ),
  );
  const rounds = (count) =>
    new Promise((resolve) => {
      left = count * n;
      done = resolve;
      for (const actor of actors) dispatch(actor, { content: "go" });
    });
  await rounds(WARM);
  const told = await measured(
    () => rounds(roundsFor(n)),
    () => roundsFor(n) * n,
  );
  stop(system);
  return told;
}
