import {
  disputeCheckTool,
  disputeTool,
  doneTool,
  type DoneToolOptions,
  giveUpTool,
  installTool,
  type ProjectGate,
} from "../../actions/company/project-gate.ts";
import type { Tool } from "../../src/agent/index.ts";
import {
  editorTool,
  type EditRules,
  fileSearchTool,
  type MachineOptions,
  readFilesTool,
  shellTool,
  writeFilesTool,
} from "../../src/tools/index.ts";

/** The machine on which a company works. */
export interface CompanyMachine extends MachineOptions {
  readonly gate: ProjectGate;
  /** The user allows packages to be installed. */
  readonly mayInstall: boolean;
}

/** The differences between the tools of workers. */
export interface CompanyToolOptions extends Pick<DoneToolOptions, "judge" | "asked">, Required<Pick<EditRules, "refuse" | "shown">> {
  /** Why the worker may hand nothing back; undefined where it may. */
  readonly noDispute?: string | undefined;
}

/**
 * The tools of those who work on a whole project. Their names, their descriptions and their order are equal for all, because providers put tools
 * before the messages: else no prompt would begin as a colleague's does.
 */
export function companyTools(machine: CompanyMachine, options: CompanyToolOptions): readonly Tool[] {
  const { workspace, sandbox, gate, mayInstall } = machine;
  const { judge, asked, refuse, shown, noDispute } = options;
  return [
    writeFilesTool({ workspace, refuse, shown }),
    editorTool({ workspace, refuse, shown }),
    shellTool({ workspace, sandbox, refuse }),
    fileSearchTool({ workspace }),
    readFilesTool({ workspace }),
    doneTool({ gate, judge, asked }),
    giveUpTool(),
    disputeCheckTool(noDispute),
    disputeTool(noDispute),
    ...(mayInstall ? [installTool(gate)] : []),
  ];
}
