import type { Message } from "./message.ts";

/** What publishing tells: the message as it is stored, and the names of the roles that hear it, in hire order. */
export interface Receipt {
  readonly message: Message;
  readonly recipients: readonly string[];
}
