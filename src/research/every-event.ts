import { EVENT_TYPES as TYPES, type RunEvent } from "../runtime/record/event.ts";

/** Every type of event. */
export const EVENT_TYPES: readonly RunEvent["type"][] = Object.keys(TYPES) as readonly RunEvent["type"][];
