import { checkProjectOptions } from "../../actions/project-action.ts";
import { WriteDesign, WritePrd } from "../../actions/index.ts";
import { kinds, type Reaction, Role } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";

/** Turns requirements into a design. */
export class Architect extends Role {
  override readonly name: string = "Bob";
  override readonly profile: string = "Architect";
  override readonly goal: string = "design a system that is simple, complete and easy to test";
  override readonly constraints: string = "use what the platform has; write in the language of the requirements";
  override readonly reactions: readonly Reaction[];

  constructor(options: { readonly workspace: Workspace }) {
    super();
    checkProjectOptions("new Architect", options, { workspace: kinds.workspace });
    const { workspace } = options;
    this.reactions = [{ on: WritePrd, do: new WriteDesign({ workspace }) }];
  }
}
