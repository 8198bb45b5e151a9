import { createMessage, type Message } from "../../src/message/message.ts";

/** A question, what was said that answers it, and what was said right before that. */
export interface Evidence {
  readonly question: string;
  readonly before: string;
  readonly answer: string;
}

/*
 * Made by hand for this test: what two people said, and questions in other words. Half of the answers name what is asked for, some in another
 * form; of the other half only what was said right before names it, or nothing does.
 */
export const EVIDENCE: readonly Evidence[] = (
  [
    ["When does Mara begin working at the bakery?", "Any news?", "The bakery wants me from the third of March."],
    [
      "What did Tom break on his trip to Norway?",
      "How was it?",
      "Norway was beautiful, but I slipped on the ice and my wrist is in plaster.",
    ],
    ["Which instrument is Mara learning?", "You sound tired.", "My new cello lessons are every morning at six."],
    ["Why was the wedding moved?", "So it is off?", "The wedding is in October now, for the hall was flooded."],
    ["What is the name of Tom's dog?", "You finally adopted a dog!", "Biscuit is two years old and eats my shoes."],
    [
      "How much does the apartment cost each month?",
      "Did you take it?",
      "We signed for the apartment yesterday, eleven hundred with heating.",
    ],
    ["Who repaired the boiler?", "Is it warm again?", "My uncle Ferdinand came over with his tools, and the boiler runs."],
    ["What is Tom allergic to?", "Why did you leave the picnic?", "There were walnuts in the cake, and my throat swells up from those."],
    ["Where are the spare keys kept?", "I locked myself out, where are your spare keys?", "Under the blue flowerpot beside the shed."],
    ["Which colour did Mara choose for the kitchen?", "Have you painted the kitchen?", "Sage green, all four walls."],
    ["What did the doctor advise Tom against?", "What did the doctor say?", "No coffee after noon, and less salt."],
    ["Where did the two of them first meet?", "Remember how it began?", "You spilled lemonade over me at the chess tournament in Leeds."],
    ["What is the password hint for the archive?", "I cannot open the archive.", "Think of the first street you lived in, then the year."],
    ["Which train do they take on Friday?", "Friday then?", "The 7:42 from platform nine, it does not stop in Reading."],
    ["What did grandmother leave to Mara in her will?", "I am sorry about your grandmother.", "She wanted me to have her telescope."],
    ["How long did the marathon take Tom?", "How did it go?", "Four hours and eleven minutes, my slowest marathon."],
    ["What sort of tree fell onto the garage?", "Was the storm bad for you?", "The old birch came down on the roof of our garage."],
    [
      "Who is going to water the tomatoes in July?",
      "Will your tomatoes survive the holidays?",
      "Priya from next door has promised to look after them.",
    ],
    ["What does the landlord forbid?", "Is he strict?", "Our landlord wants no barbecue on the balcony, he wrote it in capital letters."],
    ["Which subject did Mara fail at school?", "Were you good?", "Not in chemistry: at school I had to repeat that exam twice."],
    ["What was stolen from the car?", "Did they find who did it?", "No, and my violin case was still in the car."],
    ["Which vegetable does Tom refuse to eat?", "Dinner at ours, is there anything you will not eat?", "Anything but aubergine, please."],
    ["What size are Mara's climbing shoes?", "I could lend you climbing shoes.", "Thirty-eight and a half, if they stretch."],
    ["What does Tom collect?", "Your shelves are so full.", "Those are all antique thermometers, two hundred by now."],
    ["When is the museum closed?", "Let us go on Monday.", "The museum only opens from Wednesday to Sunday."],
    ["What became of the canoe?", "Are we paddling this summer?", "I sold the canoe to a student from Utrecht."],
    ["Which medicine does the cat need?", "Is she better?", "The cat gets two drops of iodine in her food each evening."],
    [
      "How did Tom lose his first job?",
      "What happened back then?",
      "In my first newspaper job I printed the wrong obituary and they let me go.",
    ],
    ["What should be brought to the housewarming?", "Can I bring something?", "Folding chairs for the housewarming, we have only three."],
    ["Who taught Mara to swim?", "You are like a fish.", "A lighthouse keeper taught me to swim when I was five."],
  ] as const
).map(([question, before, answer]) => ({ question, before, answer }));

const TALK = [
  "What do you think we should do about it when they are all here?",
  "I did not know that you were going to be there with them.",
  "How did you do that, and who was it that told you?",
  "It is what it is, and there is not much that we can do about that.",
  "When I was there it was not at all like that, you know.",
  "Where are you now, and what are you up to?",
  "Which of the two do you want, this one or that one?",
  "They did not say why, and I did not ask them either.",
  "Who is it for, if it is not for the two of us?",
  "Do you need more of these, or is that what there is?",
];
const WORDS =
  "weather weekend sofa laundry neighbour lunch film meeting homework parcel bus holiday phone rain garden party shopping".split(" ");

/** A long conversation, said in one run: small talk, and the evidence spread over it. The same each time. */
export function conversation(length: number): readonly Message[] {
  const every = Math.floor(length / EVIDENCE.length);
  const said: string[] = [];
  for (let n = 0; said.length < length; n += 1) {
    const evidence = n % every === 0 ? EVIDENCE[n / every] : undefined;
    if (evidence !== undefined) said.push(evidence.before, evidence.answer);
    // A few numbers that have no common divisor with the lists: no two messages are the same.
    said.push(`${TALK[(n * 7) % TALK.length] ?? ""} The ${WORDS[(n * 5) % WORDS.length] ?? ""} was fine, ${n} times.`);
  }
  return said.map((content, n) =>
    createMessage(content, { id: `m${n}`, sentFrom: n % 2 === 0 ? "Mara" : "Tom", timestamp: 1_700_000_000_000 + n * 60_000 }),
  );
}
