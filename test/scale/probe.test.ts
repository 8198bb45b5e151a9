import { it } from "vitest";
import { workOf } from "./work.ts";
import { played, players } from "./players.ts";
async function game(n: number, listen: boolean = false): Promise<void> {
  const environment = players(n);
  if (listen) environment.on("act.ended", () => {});
  await played(environment);
}
it("p", async () => {
  await game(10, true);
  for (const n of [100, 100, 200, 200, 300, 300, 1900, 2000]) console.log(n, await workOf(() => game(n)), await workOf(() => game(n, true)));
});
