import pg from "pg";
import { describe, expect, it } from "vitest";
import { hasPostgres, startPostgres } from "./postgres-process.ts";

describe.runIf(hasPostgres)("the server of the tests", () => {
  it("keeps what was committed over a kill", { tags: ["fleet", "long"] }, async () => {
    const server = await startPostgres();
    const ask = async (text: string): Promise<unknown[]> => {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      const { rows } = await client.query(text);
      await client.end();
      return rows;
    };
    await ask("create table kept (word text)");
    await ask("insert into kept values ('here')");
    await server.kill();
    await server.restart();
    expect(await ask("select word from kept")).toEqual([{ word: "here" }]);
  });
});
