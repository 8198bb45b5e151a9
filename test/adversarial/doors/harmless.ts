/** What is accepted although it is wrong, with the reason why it does no harm. */
export const harmless: Readonly<Record<string, string>> = {};
