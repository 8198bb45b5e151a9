import type { ActionContext, Message } from "../../src/index.ts";
import type { z } from "zod";
import { type Prd, PrdSchema, renderPrd } from "./prd.ts";
import { documentFiles, ProjectAction } from "../project-action.ts";
import { STACK } from "./decisions.ts";
import { promptOf } from "../prompt.ts";

const INSTRUCTION =
  "Write the product requirement document for the idea below: what is built, for whom, and how one can tell that it is done. Keep to what the idea asks for; add only what its users would miss at once. Write in the language of the idea.";

/** Turns an idea into requirements: `docs/requirement.txt` and `docs/prd/`. */
export class WritePrd extends ProjectAction<Prd, readonly []> {
  override readonly description: string = "Write the product requirement document.";
  override readonly output: z.ZodType<Prd> = PrdSchema;

  override prompt(ctx: ActionContext<readonly []>): string {
    return promptOf("WritePrd", INSTRUCTION, [["Idea", ctx.text], STACK]);
  }

  override async run(ctx: ActionContext<readonly []>): Promise<Message<Prd>> {
    const prd = await ctx.ask(this.prompt(ctx), { schema: PrdSchema });
    const files = [{ path: "docs/requirement.txt", content: ctx.text }, ...documentFiles("prd", prd.projectName, prd, renderPrd(prd))];
    await this.write(ctx, files);
    return this.conclude(ctx, prd, { files, summary: `Write the requirements of ${prd.projectName}` });
  }

  override render(prd: Prd): string {
    return renderPrd(prd);
  }
}
