import { checkProjectOptions } from "../../actions/project-action.ts";
import { WritePrd } from "../../actions/index.ts";
import { kinds, type Reaction, Role, UserRequirement } from "../../src/index.ts";
import type { Workspace } from "../../src/workspace/index.ts";

/** Turns the user's idea into requirements. */
export class ProductManager extends Role {
  override readonly name: string = "Alice";
  override readonly profile: string = "Product Manager";
  override readonly goal: string = "turn an idea into requirements that lead to a product its users like";
  override readonly constraints: string = "write in the language of the user; ask for nothing that the idea does not need";
  override readonly reactions: readonly Reaction[];

  constructor(options: { readonly workspace: Workspace }) {
    super();
    checkProjectOptions("new ProductManager", options, { workspace: kinds.workspace });
    const { workspace } = options;
    this.reactions = [{ on: UserRequirement, do: new WritePrd({ workspace }) }];
  }
}
