import type { Chat, ChatRow, ChatTurn } from "./event-chats.ts";
import { type Database, textOf } from "./sqlite-database.ts";

/** Writes the missing turns, from the beginning: a stored turn has all turns before it. */
export function writeChat(db: Database, number: number, { turns }: Chat): void {
  let known = turns.length;
  while (known > 0 && !hasChat(db, number, turns[known - 1])) known -= 1;
  for (const { chat, before, message, body } of turns.slice(known)) {
    db.run("INSERT OR IGNORE INTO chat_messages (number, message, body) VALUES (?, unhex(?), ?)", [number, message, body]);
    db.run("INSERT INTO chats (number, chat, before, message) VALUES (?, unhex(?), unhex(?), unhex(?))", [number, chat, before, message]);
  }
}

function hasChat(db: Database, number: number, turn: ChatTurn | undefined): boolean {
  return turn !== undefined && db.first("SELECT 1 FROM chats WHERE number = ? AND chat = unhex(?)", [number, turn.chat]) !== undefined;
}

export function chatRow(db: Database, number: number, chat: string): ChatRow | undefined {
  const [before, message] =
    db.first("SELECT hex(before), hex(message) FROM chats WHERE number = ? AND chat = unhex(?)", [number, chat]) ?? [];
  if (typeof message !== "string") return undefined;
  const sql = "SELECT CAST(body AS BLOB) FROM chat_messages WHERE number = ? AND message = unhex(?)";
  return { before, message, body: textOf(db.first(sql, [number, message])?.[0]) };
}
