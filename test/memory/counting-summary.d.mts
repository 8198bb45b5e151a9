import type { ChatRequest } from "../../src/model/chat-model.ts";

export function numbersIn(text: string): number[];
export function isDoubled(text: string): boolean;
export function countingSummary(request: ChatRequest): string;
