import type { ActionContext, InputsOf, Message } from "../../src/index.ts";
import type { z } from "zod";
import { type Design, DesignSchema, renderDesign } from "./design.ts";
import { PrdSchema } from "./prd.ts";
import { documentFiles, payloadOf, ProjectAction } from "../project-action.ts";
import { STACK } from "./decisions.ts";
import { promptOf } from "../prompt.ts";
import { WritePrd } from "./write-prd.ts";

const INSTRUCTION =
  "Design the system that meets the requirements below: the simplest one that does. Name every file, and the interfaces between them so precisely that each file can be written on its own.";

type WriteDesignNeeds = readonly [typeof WritePrd];

/** Turns requirements into a design: `docs/system_design/`. */
export class WriteDesign extends ProjectAction<Design, WriteDesignNeeds> {
  override readonly description: string = "Design the system.";
  override readonly needs: WriteDesignNeeds = [WritePrd];
  override readonly output: z.ZodType<Design> = DesignSchema;

  override prompt(ctx: ActionContext<InputsOf<WriteDesignNeeds>>): string {
    const prd = payloadOf(ctx.inputs[0], PrdSchema);
    return promptOf("WriteDesign", INSTRUCTION, [["Requirements", JSON.stringify(prd)], STACK]);
  }

  override async run(ctx: ActionContext<InputsOf<WriteDesignNeeds>>): Promise<Message<Design>> {
    const { projectName } = payloadOf(ctx.inputs[0], PrdSchema);
    const design = await ctx.ask(this.prompt(ctx), { schema: DesignSchema });
    const files = documentFiles("system_design", projectName, design, renderDesign(design));
    await this.write(ctx, files);
    return this.conclude(ctx, design, { files, summary: `Design ${projectName}` });
  }

  override render(design: Design): string {
    return renderDesign(design);
  }
}
