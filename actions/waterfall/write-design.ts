import type { ActionContext, Message, InputsOf } from "../../src/index.ts";
import { z } from "zod";
import { PrdSchema, WritePrd, STACK } from "./write-prd.ts";
import { documentFiles, payloadOf, ProjectAction } from "../project-action.ts";
import { promptOf } from "../prompt.ts";
import { inFence, bullets, sections } from "../markdown.ts";
import { ProjectPathsSchema } from "../project-path.ts";

/** Guards a {@link Design}. */
export const DesignSchema = z.object({
  implementationApproach: z.string().describe("the hard points, and how the design meets them with the stack given"),
  fileList: ProjectPathsSchema.refine((paths) => paths.length > 0, "names no file").describe("paths of all files, tests included"),
  dataStructuresAndInterfaces: z
    .string()
    .describe("Mermaid classDiagram source, without a fence: modules, functions with types, data, relations"),
  programCallFlow: z.string().describe("Mermaid sequenceDiagram source, without a fence, complete and using the names above"),
  anythingUnclear: z.string().default("").describe("what the requirements leave open and what is assumed; empty when nothing"),
});

/** A system design. */
export type Design = z.infer<typeof DesignSchema>;

export function renderDesign(design: Design): string {
  return sections("System design", [
    ["Implementation approach", design.implementationApproach],
    ["Files", bullets(design.fileList)],
    ["Data structures and interfaces", diagram(design.dataStructuresAndInterfaces)],
    ["Program call flow", diagram(design.programCallFlow)],
    ["Unclear", design.anythingUnclear],
  ]);
}

/** Models fence diagrams against the instruction, or write prose. */
function diagram(text: string): string {
  return /^(classDiagram|sequenceDiagram|flowchart|graph|stateDiagram)\b/.test(text.trim()) ? inFence(text.trim(), "mermaid") : text;
}

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
