/** The short forms of the sentences of `plan` and `status`. `--explain` prints them whole. */
import type { Wording } from '../../lambda/explain/text.ts';

/** Sentences end with a period; those in parentheses are of others, such as the reasons of ECS. */
const BETWEEN_SENTENCES = /(?<=\.) (?![^(]*\))/;

/**
 * A text of more words loses its last sentences until it has `KEPT` of them, or is one sentence; `…` marks each gap.
 * The first sentence that says what to do stays, whatever its length.
 */
export const brief: Wording = (text, most) => {
  if (wordsIn(text) <= most) return text;
  const sentences = text.split(BETWEEN_SENTENCES);
  const advice = sentences.findIndex((sentence) => ADVICE.test(sentence));
  const isKept = (index: number): boolean =>
    index === 0 || index === advice || wordsIn(sentences.slice(0, index + 1).join(' ')) <= most * KEPT;
  const parts = sentences.map((sentence, index) => (isKept(index) ? sentence : GAP));
  const shown = parts.filter((part, index) => part !== GAP || parts[index - 1] !== GAP);
  return shown.join(' ').replaceAll(/\.(?= …)/g, '');
};

const GAP = '…';

/** What to do begins with the verb, or with a condition and the verb. */
const ADVICE =
  /^(?:(?:If|Once|Only if|Otherwise|To)\b[^,.:]*[,:]? )?(?:add|ask|cancel|check|clear|compare|create|delete|deploy|find|give|grant|keep|leave|look|make|mend|merge|prefer|raise|read|remove|renew|replace|request|restore|run|search|set|sign|stop|store|upgrade|use|wait|write)\b/i;

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
