/*
 * Nothing around it: frozen message objects with the fields of a message of Troupe, a table of names, a list for each mailbox, a state that
 * is replaced, and messages that arrive when the round ends. What no runtime can be faster than that has such messages.
 */
import { generator, nameOf, roundsFor, WARM } from "./worlds.mjs";

const metadata = Object.freeze({});

function messageOf({ name, acted }, place, parent, to) {
  return Object.freeze({
    id: `${name}#${acted}.${place}`,
    content: "go",
    role: "assistant",
    causeBy: "Actor",
    sentFrom: name,
    sendTo: Object.freeze([to]),
    parents: Object.freeze([parent]),
    timestamp: 0,
    metadata,
  });
}

export async function population(n, world, measured) {
  const random = generator(1);
  const actors = Array.from({ length: n }, (_, place) => ({ name: nameOf(place), place, box: [], state: { seen: 0 }, acted: 0 }));
  const byName = new Map(actors.map((actor) => [actor.name, actor]));
  const to = (place) => nameOf(world === "ring" ? (place + 1) % n : Math.floor(random() * n));
  let ready = actors;
  for (const actor of actors) actor.box.push({ id: "user#1", content: "go", parents: [] });
  const round = () => {
    const sent = [];
    for (const actor of ready) {
      const news = actor.box;
      actor.box = [];
      let said = 0;
      for (const { id } of news) {
        actor.state = Object.freeze({ seen: actor.state.seen + 1 });
        sent.push(messageOf(actor, said++, id, to(actor.place)));
      }
      actor.acted += 1;
    }
    const next = new Set();
    for (const message of sent) {
      for (const name of message.sendTo) {
        const actor = byName.get(name);
        actor.box.push(message);
        next.add(actor);
      }
    }
    ready = [...next].sort((a, b) => a.place - b.place);
    return sent.length;
  };
  for (let k = 0; k < WARM; k += 1) round();
  let messages = 0;
  return measured(
    async () => {
      for (let k = 0; k < roundsFor(n); k += 1) messages += round();
    },
    () => messages,
  );
}
