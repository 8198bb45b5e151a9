import { checkProjectOptions } from "../../actions/project-action.ts";
import { WriteDesign, WritePrd, WriteTasks } from "../../actions/index.ts";
import { kinds, type Reaction, Role } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";

/** Breaks a design into files to write. */
export class ProjectManager extends Role {
  override readonly name: string = "Eve";
  override readonly profile: string = "Project Manager";
  override readonly goal: string = "break a design into files that can be written one after another";
  override readonly constraints: string = "leave no file of the design out; write in the language of the requirements";
  override readonly reactions: readonly Reaction[];

  constructor(options: { readonly workspace: Workspace }) {
    super();
    checkProjectOptions("new ProjectManager", options, { workspace: kinds.workspace });
    const { workspace } = options;
    this.reactions = [{ on: WriteDesign, needs: [WritePrd, WriteDesign], do: new WriteTasks({ workspace }) }];
  }
}
