// For those who come from MetaGPT: what its names are called here. The page docs/guides/from-metagpt-openmanus.md shows the lines.
import { z } from "zod";
import {
  Action,
  type ActionContext,
  addressOf,
  BrainMemory,
  createMessage,
  defineAction,
  defineRole,
  Environment,
  formatCost,
  hashingEmbedder,
  LongTermMemory,
  Memory,
  memoryJournal,
  MemoryStorage,
  type Message,
  MessageQueue,
  parseMessage,
  Plan,
  Role,
  type RoleContext,
  ROUTE_TO_ALL,
  ROUTE_TO_NONE,
  ROUTE_TO_SELF,
  serializeMessage,
  Team,
  toChat,
  usd,
  UserRequirement,
} from "troupe";
import { debugMemory, exportSnapshot, flowMermaid, importSnapshot, messageFlow } from "troupe/inspector";
import { ShardedStorage } from "troupe/memory";
import { memoryCache, scriptedModel } from "troupe/testing";

// #region message
const message = createMessage("a snake game", { causeBy: UserRequirement, sentFrom: "Ann", sendTo: ["Alex"], metadata: { day: 1 } });
console.log(message.causeBy, message.sentFrom, message.sendTo.join(), message.metadata["day"]); // UserRequirement Ann Alex 1
const design = createMessage("the design", { role: "assistant", causeBy: "WriteDesign", instructContent: { files: ["main.py"] } });
console.log(design.instructContent?.files[0], design.role, ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF); // main.py assistant <all> <none> <self>
console.log(parseMessage(serializeMessage(message)).id === message.id, toChat(message)); // true { role: "user", ... }
// #endregion

// #region queue
const queue = new MessageQueue({ limit: 1_000 });
queue.push(message);
queue.push(createMessage("stop", { priority: -1 })); // smaller numbers leave first
console.log(queue.pop()?.content, queue.popAll().length, queue.isEmpty); // stop 1 true
// #endregion

// #region memory
const evicted: Message[] = [];
const memory = new Memory({ limit: 3, onEvict: (oldest) => void evicted.push(oldest) });
memory.addBatch([createMessage("an old idea"), message, design]);
memory.add(createMessage("a snake has no legs", { causeBy: "Talk" }));
console.log(evicted.length, memory.tryRemember("snake").length, memory.getByContent("design").length); // 1 2 1
// #endregion
console.log(memory.get(2).length, memory.getByPosition(-1)?.content, memory.getByRole("assistant").length); // 2 a snake has no legs 1
console.log(memory.getByAction(UserRequirement).length, memory.getByActions(["Talk", "WriteDesign"]).length); // 1 2
console.log(memory.findNews([message, createMessage("news")]).length, memory.size); // 1 3
console.log(memory.delete(design), memory.deleteNewest()?.causeBy, memory.deleteOlderThan(0)); // true Talk 0
console.log(new Memory({ ignoreId: true }).addBatch([createMessage("twice"), createMessage("twice")])); // 1

// #region snapshot
const copy = new Memory();
await importSnapshot(await exportSnapshot(memory), copy); // the snapshot is plain JSON
console.log(copy.size, debugMemory(copy).messages); // 1 1
console.log(flowMermaid(messageFlow([message])).split("\n")[1]); // n0["Ann"]
// #endregion
memory.clear();

// Long-term memory.
const storage = new MemoryStorage({ roleId: "Alex", embedder: hashingEmbedder(), threshold: 0.1, ttl: 30 * 24 * 3_600_000 });
await storage.addBatch([createMessage("The ferry leaves at nine."), createMessage("The bridge is of stone.")]);
console.log((await storage.searchSimilar("When does the ferry leave?", { k: 4 }))[0]?.message.content); // The ferry leaves at nine.
console.log(await storage.deleteOlderThan(0), await storage.cleanUp(), (await storage.recover()).length); // 0 0 2
const hybrid = new LongTermMemory({ storage, limit: 100 });
hybrid.add(createMessage("The ferry is late."));
await hybrid.persist();
console.log((await hybrid.search("ferry", { k: 2 })).length); // 2
await hybrid.close();
const sharded = new ShardedStorage({ shards: ["a", "b"].map((roleId) => new MemoryStorage({ roleId })) });
console.log(await sharded.addBatch([createMessage("one"), createMessage("two")])); // 2

// BrainMemory.
const teller = scriptedModel(({ messages }) => (JSON.stringify(messages).includes("TRUE") ? "TRUE" : "They plan a bridge."));
const brain = new BrainMemory({
  model: teller,
  cache: memoryCache(),
  key: { prefix: "assistant", userId: "ann", chatId: "7" },
  maxMessages: 2,
});
brain.addTalk(createMessage("Stone or steel?"));
brain.addAnswer(createMessage("Steel."));
brain.addKnowledge(createMessage("Steel rusts."));
brain.addTalk(createMessage("And the colour?"));
console.log(brain.exists("Steel."), brain.getKnowledge(), brain.isHistoryAvailable, brain.lastTalk); // true Steel rusts. true And the colour?
console.log(brain.popLastTalk(), await brain.shouldCompress(), await brain.compress(), brain.summary); // And the colour? true true They plan a bridge.
brain.addAnswer(createMessage("Red."));
console.log(brain.isDirty, await brain.save(), (await brain.load()).kind); // true true loaded
console.log(await brain.isRelated("a bridge", "a ferry"), await brain.rewrite("it", "a bridge"), await brain.getTitle("a bridge")); // true They plan a bridge. a bridge
console.log(BrainMemory.extractInfo("[SKILL]: draw").tag, BrainMemory.splitTexts("a b c d", 3).length, await brain.summarize("a b c")); // SKILL 3 a b c

// #region role
class WriteCode extends Action {
  override run(ctx: ActionContext): Promise<string> {
    return ctx.ask(`Write code for: ${ctx.text}`);
  }
}

class Engineer extends Role {
  override readonly name = "Alex";
  override readonly profile = "Engineer";
  override readonly goal = "working code";
  override readonly constraints = "no dependencies";
  override readonly watch = [UserRequirement, "WriteDesign"];
  override readonly actions: readonly Action[] = [new WriteCode()];

  override observe(rc: RoleContext): readonly Message[] {
    return rc.memory.findNews(rc.inbox);
  }

  override think(rc: RoleContext): Action | undefined {
    return rc.workingMemory.addBatch(rc.news) > 0 ? this.actions[0] : undefined;
  }

  override async act(rc: RoleContext, action: Action): Promise<Message | readonly Message[] | void> {
    console.log(rc.news.length, rc.important.length, rc.memory.get().length, rc.introduction.split(",")[0]); // 1 1 1 You are an Engineer
    return super.act(rc, action);
  }
}

const Verdict = z.object({ ok: z.boolean(), why: z.string() });
const Review = defineAction({ name: "Review", needs: [WriteCode], output: Verdict, prompt: (ctx) => `Review:\n${ctx.inputs[0].content}` });
const Report = defineAction({ name: "Report", run: (ctx) => ctx.message("reported", { sendTo: ROUTE_TO_NONE }) });
const reviewer = defineRole({ name: "Rosa", watch: [WriteCode], actions: [Review, Report], reactMode: "by_order", maxReactLoop: 2 });
// #endregion
const listener = defineRole({
  name: "Lia",
  addresses: ["archive"],
  observeAll: true,
  react: (rc) => void rc.publish(rc.message("noted", { sendTo: ROUTE_TO_NONE })),
});
console.log(addressOf(WriteCode), addressOf(reviewer)); // WriteCode Rosa

const planner = defineRole({
  name: "Pia",
  reactMode: "plan_and_act",
  planTasks: () => [{ id: "1", instruction: "look" }],
  actions: [defineAction({ name: "Look", run: (ctx) => `${ctx.task?.instruction} done` })],
});
const plan = new Plan({ goal: "a report", tasks: [{ id: "a", instruction: "look" }] });
plan.addTasks([
  { id: "a", instruction: "look" },
  { id: "b", instruction: "write", dependsOn: ["a"] },
]);
plan.appendTask({ id: "c", instruction: "print", dependsOn: ["b"] });
plan.replaceTask({ id: "c", instruction: "send", dependsOn: ["b"] });
console.log(plan.finishCurrentTask("seen")?.id, plan.currentTask?.id, plan.finishedTasks.length, plan.isFinished); // a b 1 false
plan.resetTask("a");

// Environment.
const environment = new Environment({ description: "an office" });
environment.addRole(planner);
environment.addRoles([listener]);
environment.publishMessage(createMessage("a report", { sendTo: [planner] }));
const { rounds } = await environment.run({ rounds: 3 });
console.log(rounds, environment.isIdle, environment.roleNames.join(), environment.history.size, environment.getRole("Pia")?.name); // 2 true Pia,Lia 3 Pia

// #region team
const model = scriptedModel(["print('snake')", '{"ok": true, "why": "it runs"}']);
const journal = memoryJournal(); // sqlite({ path }) from troupe/sqlite keeps runs on disk
const team = new Team({ roles: [new Engineer()], model, journal, budget: usd(1), human: () => "yes" });
team.hire(reviewer);
team.invest(usd(3));
const run = team.run("a snake game", { id: "snake", rounds: 5 });
const result = await run.result;
console.log(result.status, result.messages.length, formatCost(result.cost)); // finished 3 $0.00
console.log((await team.resume("snake").result).status); // finished
// #endregion
