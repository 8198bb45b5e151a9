import { z } from "zod";
import { bullets, sections } from "./markdown.ts";

/** Files that were written. */
export interface WrittenFiles {
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly sha256: string }[];
}

/** Guards {@link WrittenFiles}. */
export const WrittenFilesSchema: z.ZodType<WrittenFiles> = z.object({
  files: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
});

/** {@link WrittenFiles} as people read them. */
export function renderWrittenFiles(title: string, { files }: WrittenFiles): string {
  return sections(title, [
    ["Files", files.length === 0 ? "None." : bullets(files.map(({ path, bytes }) => `\`${path}\` (${bytes} bytes)`))],
  ]);
}
