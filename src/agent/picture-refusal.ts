import { ModelError } from "../kernel/errors.ts";
import type { ChatRequest } from "../model/chat-model.ts";

/** Servers have no code for it: each says it in words of its own. */
const ABOUT_PICTURES = /\bimages?\b|image_url|\bpictures?\b|\bvision\b|multi-?modal|mmproj|\bcontent\b.{0,60}\bstring\b/i;
/** How a refusal of the request itself is told; of a server that failed for other reasons nothing follows. */
const REFUSALS: ReadonlySet<string> = new Set(["MODEL_BAD_REQUEST", "MODEL_NOT_FOUND", "MODEL_FORMAT_UNSUPPORTED", "MODEL_SERVER"]);

/** Whether a model refused a request because of the pictures in it. */
export function refusesPictures(error: unknown, request: ChatRequest): boolean {
  if (!(error instanceof ModelError) || !REFUSALS.has(error.code) || !ABOUT_PICTURES.test(error.message)) return false;
  return request.messages.some(({ images = [] }) => images.length > 0);
}
