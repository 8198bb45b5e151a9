// A blackboard: knowledge sources share no code and send each other nothing. Each watches one level of the board, and posts what it can add. Here they
// place eight queens: the source of a row extends each partial solution of the row before by every square that no queen attacks.
import { defineRole, Environment, UserRequirement } from "troupe";
import { study } from "troupe/research";

const SIZE = 8;

const sourceOf = (row: number) =>
  defineRole({
    name: `Row${row}`,
    watch: [row === 1 ? UserRequirement : `Row${row - 1}`],
    step(_, { content }, out) {
      const queens = row === 1 ? [] : content.split(",").map(Number);
      for (let column = 1; column <= SIZE; column += 1) {
        const isAttacked = queens.some((queen, place) => queen === column || Math.abs(queen - column) === queens.length - place);
        if (!isAttacked) out.say([...queens, column].join());
      }
    },
  });

const board = new Environment({ seed: 1 });
board.addRoles(Array.from({ length: SIZE }, (_, place) => sourceOf(place + 1)));
board.publishMessage("place the queens");
const { outputs, messages } = await board.run();
export const posts = Array.from({ length: SIZE }, (_, place) => messages.filter(({ causeBy }) => causeBy === `Row${place + 1}`).length);
const profile = [8, 42, 140, 344, 568, 550, 312, 92];
const alike = posts.filter((count, level) => count === profile[level]);

export const figures = study({ name: "blackboard", source: "Knuth 1975" }).report([
  { name: "solutions of eight queens", source: "Nauck 1850", expected: 92, found: outputs.length },
  { name: "posts, nodes of the search tree without its root", expected: 2056, found: messages.length - 1 },
  { name: "levels with the published number of posts", expected: SIZE, found: alike.length },
]);
