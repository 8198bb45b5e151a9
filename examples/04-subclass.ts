// A role as a subclass that changes how it observes and thinks. It asks no model.
import { Action, type ActionContext, type Message, Role, type RoleContext, Team } from "troupe";

// #region subclass
class CountWords extends Action {
  override run(ctx: ActionContext): string {
    return `${ctx.text.split(/\s+/).filter(Boolean).length} words`;
  }
}

class Shout extends Action {
  override run(ctx: ActionContext): string {
    return ctx.text.toUpperCase();
  }
}

class Clerk extends Role {
  override readonly profile = "Clerk";
  override readonly actions: readonly Action[] = [new CountWords(), new Shout()];

  /** Drops empty messages. */
  override observe(rc: RoleContext): readonly Message[] {
    return rc.inbox.filter((message) => message.content.trim().length > 0);
  }

  /** Counts the words of a question; shouts everything else back. */
  override think(rc: RoleContext): Action | undefined {
    if (rc.workingMemory.size > 0) return undefined;
    rc.workingMemory.addBatch(rc.news);
    const wanted = rc.news.some((message) => message.content.includes("?")) ? "CountWords" : "Shout";
    return this.actions.find((action) => action.name === wanted);
  }
}

const result = await new Team({ roles: [new Clerk()] }).run("how many words is this?").result;
console.log(result.output?.causeBy, "->", result.output?.content); // CountWords -> 5 words
// #endregion
