import type { ToolSpec } from "../model/chat-model.ts";
import type { Tool } from "../tool/tool.ts";
import { ToolCollection } from "../tool/tool-collection.ts";
import { terminate } from "./terminate.ts";

/** Somebody's tools as they are at any time, and `terminate` after them unless they have one of that name. Their own collection is left as it is. */
export class EndableTools extends ToolCollection {
  readonly #own: ToolCollection;
  #ownSpecs: readonly ToolSpec[] | undefined;
  #allSpecs: readonly ToolSpec[] = [];

  constructor(own: ToolCollection) {
    super();
    this.#own = own;
  }

  override get size(): number {
    return this.#own.size + (this.#isOwn ? 0 : 1);
  }

  override get names(): readonly string[] {
    return this.#isOwn ? this.#own.names : [...this.#own.names, terminate.name];
  }

  override get specs(): readonly ToolSpec[] {
    const { specs } = this.#own;
    if (specs === this.#ownSpecs) return this.#allSpecs;
    this.#ownSpecs = specs;
    this.#allSpecs = this.#isOwn ? specs : [...specs, terminate.spec];
    return this.#allSpecs;
  }

  override get(name: string): Tool | undefined {
    return this.#own.get(name) ?? (name === terminate.name ? terminate : undefined);
  }

  override has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  override find(name: string): Tool | undefined {
    return this.#own.find(name) ?? (name.toLowerCase() === terminate.name ? terminate : undefined);
  }

  override add(tools: Tool | Iterable<Tool>): void {
    // The base class adds nothing while it is built: there is no collection to pass it on to yet.
    if (#own in this) this.#own.add(tools);
  }

  override remove(name: string): boolean {
    return this.#own.remove(name);
  }

  override [Symbol.iterator](): Iterator<Tool> {
    const all = this.#isOwn ? [...this.#own] : [...this.#own, terminate];
    return all[Symbol.iterator]();
  }

  get #isOwn(): boolean {
    return this.#own.has(terminate.name);
  }
}
