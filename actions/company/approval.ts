/** Most times that a person is asked to approve one thing. */
export const MOST_APPROVALS = 3;

/** The question to the person who approves. */
export const APPROVE = "Is that what you want? Answer yes, or say what is different.";

/** True for an answer that approves. */
export function isYes(answer: string): boolean {
  return /^\W*(y|yes|ok|okay|yep|ja|oui|sí|si|approved?)\W*$/i.test(answer);
}
