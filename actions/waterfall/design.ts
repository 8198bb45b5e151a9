import { z } from "zod";
import { inFence, bullets, sections } from "../markdown.ts";
import { ProjectPathsSchema } from "../project-path.ts";

/** A system design. */
export interface Design {
  readonly implementationApproach: string;
  /** Paths of all files of the project. */
  readonly fileList: readonly string[];
  /** A Mermaid class diagram, or the same in words. */
  readonly dataStructuresAndInterfaces: string;
  /** A Mermaid sequence diagram, or the same in words. */
  readonly programCallFlow: string;
  readonly anythingUnclear: string;
}

/** Guards a {@link Design}. */
export const DesignSchema: z.ZodType<Design> = z.object({
  implementationApproach: z.string().describe("the hard points, and how the design meets them with the stack given"),
  fileList: ProjectPathsSchema.refine((paths) => paths.length > 0, "names no file").describe("paths of all files, tests included"),
  dataStructuresAndInterfaces: z
    .string()
    .describe("Mermaid classDiagram source, without a fence: modules, functions with types, data, relations"),
  programCallFlow: z.string().describe("Mermaid sequenceDiagram source, without a fence, complete and using the names above"),
  anythingUnclear: z.string().default("").describe("what the requirements leave open and what is assumed; empty when nothing"),
});

export function renderDesign(design: Design): string {
  return sections("System design", [
    ["Implementation approach", design.implementationApproach],
    ["Files", bullets(design.fileList)],
    ["Data structures and interfaces", diagram(design.dataStructuresAndInterfaces)],
    ["Program call flow", diagram(design.programCallFlow)],
    ["Unclear", design.anythingUnclear],
  ]);
}

/** Models fence diagrams although they are told not to, or write prose. */
function diagram(text: string): string {
  return /^(classDiagram|sequenceDiagram|flowchart|graph|stateDiagram)\b/.test(text.trim()) ? inFence(text.trim(), "mermaid") : text;
}
