/** The short forms of the sentences of `plan` and `status`. `--explain` prints them whole. */
import type { Wording } from '../../lambda/explain/text.ts';

/** Sentences end with a period; those in parentheses are of others, such as the reasons of ECS. */
const BETWEEN_SENTENCES = /(?<=\.) (?![^(]*\))/;

/** A text of more words loses its last sentences until it has `KEPT` of them, or is one sentence; `…` marks it. */
export const brief: Wording = (text, most) => {
  if (wordsIn(text) <= most) return text;
  const sentences = text.split(BETWEEN_SENTENCES);
  const first = sentences.filter(
    (_, index) => index === 0 || wordsIn(sentences.slice(0, index + 1).join(' ')) <= most * KEPT,
  );
  return first.length === sentences.length ? text : `${first.join(' ').replace(/\.$/, '')} …`;
};

/** A cut that saves a few words only is not worth a second command. */
const KEPT = 0.8;

const wordsIn = (text: string): number => text.split(' ').length;

/** The short text, and a last line if anything was cut. */
export function shown(textIn: (wording: Wording) => string, isWhole: boolean): string {
  const whole = textIn((text) => text);
  if (isWhole) return whole;
  const short = textIn(brief);
  return short === whole ? whole : `${short}\n…: --explain prints these sentences whole`;
}
