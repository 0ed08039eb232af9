/** `--deep`: compares coderd's answers with the recorded answers of tested releases. */
import * as z from 'zod';
import { refusalOf } from '../../lambda/adapters/coderd/http/answer.ts';
import { CoderdError, type CoderdHttp } from '../../lambda/adapters/coderd/http/http.ts';
import { unique } from '../../lambda/decision/model/collections.ts';
import { parseQuietly } from '../../lambda/decision/model/parse-quietly.ts';
import { compareVersion } from '../../lambda/decision/model/version.ts';
import { some } from '../../lambda/explain/format.ts';
import type { Organization } from '../../lambda/look/ports.ts';
import { compareWithAll, type JsonAnswer, type Tested, type Verdict } from './answers/answer-differences.ts';
import {
  type DeepQuestion,
  isOfOrganization,
  readOnlyQuestions,
  VERSION,
} from './answers/read-only-steps.ts';
import { readTranscript, recordedReleases, releasesToCompare } from './answers/recordings.ts';
import { type Check, fail, ok, skip, warn } from './check/check.ts';

const ANSWERS = 'answers';
/** Limits all questions together to fewer than 70. */
const MOST_ORGANIZATIONS = 10;

type Examined = {
  readonly http: CoderdHttp;
  /** The organizations of the pools, if coderd lists them. */
  readonly organizations: readonly Organization[];
  readonly version: string;
  readonly tokenId: string;
};

type Asked = { readonly question: DeepQuestion; readonly shown: string; readonly verdict: Verdict };
type Answers = { readonly asked: readonly Asked[]; readonly others: readonly Check[] };

export const skipAnswers = (blocker: string): Check => skip(ANSWERS, blocker);

export async function checkAnswers(examined: Examined): Promise<readonly Check[]> {
  const recorded = recordedReleases();
  const releases = releasesToCompare(examined.version, recorded);
  const { asked, others } = await askAll(examined, {
    questions: readOnlyQuestions(readTranscript(recorded.at(-1) ?? '')),
    tested: { transcripts: releases.map(readTranscript), version: examined.version },
  });
  const isRecorded = recorded.some((release) => compareVersion(examined.version, release) === 0);
  const coder = `coder ${releases.join(' or ')}`;
  return [
    ...summary(asked, { coder, nearest: isRecorded ? '' : ' (the nearest tested release)' }),
    ...asked.flatMap((one) => differenceIn(one, `coder ${releases[0]}`)),
    ...forbidden(asked),
    ...others,
  ];
}

type Script = { readonly questions: readonly DeepQuestion[]; readonly tested: Tested };

async function askAll({ http, organizations, tokenId }: Examined, script: Script): Promise<Answers> {
  const interview = new Interview(http, tokenId);
  const asked: Asked[] = [];
  const others = organizations.slice(MOST_ORGANIZATIONS).map(notAsked);
  const ask = async (question: DeepQuestion): Promise<Verdict | undefined> => {
    if (!interview.canAsk(question)) return undefined;
    const verdict = compareWithAll(question, await interview.ask(question), script.tested);
    asked.push({ question, shown: interview.shown(question), verdict });
    return verdict;
  };
  try {
    for (const question of script.questions) if (!isOfOrganization(question)) await ask(question);
    const own = script.questions.filter(isOfOrganization);
    for (const organization of organizations.slice(0, MOST_ORGANIZATIONS)) {
      interview.about(organization);
      const [jobs, ...rest] = own;
      if (jobs === undefined || (await ask(jobs))?.kind === 'forbidden') {
        asked.pop();
        others.push(skipAnswers(`organization "${organization.name}": jobs`));
        continue;
      }
      for (const question of rest) await ask(question);
    }
  } catch (cause) {
    if (!(cause instanceof CoderdError)) throw cause;
    others.push(warn(ANSWERS, `stopped after ${some(asked.length, 'question')}: ${cause.message}`));
  }
  return { asked, others };
}

function notAsked({ name }: Organization): Check {
  const says = `organization "${name}": not checked, because ${MOST_ORGANIZATIONS} other organizations were`;
  return { name: ANSWERS, status: 'skip', says };
}

function summary(
  asked: readonly Asked[],
  { coder, nearest }: { readonly coder: string; readonly nearest: string },
): readonly Check[] {
  const count = (kind: Verdict['kind']): number =>
    asked.filter(({ verdict }) => verdict.kind === kind).length;
  const [same, different] = [count('same'), count('differs')];
  if (different > 0)
    return [
      warn(
        ANSWERS,
        `${different} of ${some(same + different, 'answer')} differ from those of ${coder}${nearest}. Look for a newer release of the autoscaler, or report these lines`,
      ),
    ];
  if (same === 0) return [];
  return [ok(ANSWERS, `${some(same, 'answer')} as from ${coder}${nearest}${emptyLists(asked)}`)];
}

/** Names the lists that were empty in every answer. */
function emptyLists(asked: readonly Asked[]): string {
  const byList = Map.groupBy(asked, ({ question }) =>
    question.path.slice(question.path.lastIndexOf('/') + 1),
  );
  const empty = [...byList].filter(([, all]) => {
    const lists = all.flatMap(({ verdict }) => (verdict.kind === 'same' ? (verdict.isEmpty ?? []) : []));
    return lists.length > 0 && lists.every(Boolean);
  });
  const names = empty.map(([list]) => list);
  return names.length === 0
    ? ''
    : `. These lists are empty, so their fields were not compared: ${names.join(', ')}`;
}

/** `coder`: the release that the verdict compares with. */
function differenceIn({ shown, verdict }: Asked, coder: string): readonly Check[] {
  if (verdict.kind !== 'differs') return [];
  const says = `${shown}: this coderd answered ${verdict.said}; ${coder} answers ${verdict.tested}`;
  return [verdict.isUnreadable ? fail(ANSWERS, says) : warn(ANSWERS, says)];
}

/** One check per path, whatever its parameters. */
function forbidden(asked: readonly Asked[]): readonly Check[] {
  const shown = asked
    .filter(({ verdict }) => verdict.kind === 'forbidden')
    .map((one) => one.shown.replace(/\?.*/, ''));
  return unique(shown, (path) => path).map((path) => ({
    name: ANSWERS,
    status: 'skip',
    says: `${path}: the token's user has no permission to read it`,
  }));
}

const NAME = /\{([^{}":]+)\}/g;
/** The recorded story's name for the id of the caller's token. */
const OWN_TOKEN = 'key of reader';

const templates = z.array(z.object({ active_version_id: z.string() })).min(1);

class Interview {
  readonly #http: CoderdHttp;
  readonly #ids: Map<string, string>;
  #organization = '';

  constructor(http: CoderdHttp, tokenId: string) {
    this.#http = http;
    this.#ids = new Map([[OWN_TOKEN, tokenId]]);
  }

  about({ id, name }: Organization): void {
    this.#ids.set('organization', id);
    this.#organization = name;
  }

  /** Whether the ids of all names in the question are known. */
  canAsk({ path }: DeepQuestion): boolean {
    return path.matchAll(NAME).every(([, name]) => this.#ids.has(name ?? ''));
  }

  /** Sends a question. Throws CoderdError if coderd is unreachable or would refuse all further questions. */
  async ask(question: DeepQuestion): Promise<JsonAnswer> {
    const { method, path, body } = question;
    const content = body === undefined ? {} : { body: this.#filled(JSON.stringify(body)) };
    const asked = { method, path: `/api/v2${this.#filled(path)}`, query: queryOf(question), ...content };
    const answer = await this.#http.answer(asked);
    const reply = { status: answer.statusCode, body: parseQuietly(answer.text) };
    throwIfFinal(reply);
    this.#learn(reply.body);
    return reply;
  }

  shown({ method, path, query }: DeepQuestion): string {
    const filledPath = path.replaceAll(NAME, (_, name: string) => this.#shownName(name));
    const search = query.map((pair) => pair.join('=')).join('&');
    return `${method} /api/v2${filledPath}${search === '' ? '' : `?${search}`}`;
  }

  #filled(text: string): string {
    return text.replaceAll(NAME, (all, name: string) => this.#ids.get(name) ?? all);
  }

  #shownName(name: string): string {
    if (name === 'organization') return this.#organization;
    return name === OWN_TOKEN ? '{id of the token}' : (this.#ids.get(name) ?? name);
  }

  #learn(body: unknown): void {
    const version = templates.safeParse(body).data?.[0]?.active_version_id;
    if (version !== undefined) this.#ids.set(VERSION, version);
  }
}

function queryOf({ query }: DeepQuestion): Readonly<Record<string, readonly string[]>> {
  const values = Map.groupBy(query, ([name]) => name);
  return Object.fromEntries([...values].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]));
}

function throwIfFinal({ status }: JsonAnswer): void {
  const refusal = refusalOf(status);
  if (refusal === 'rate-limited')
    throw new CoderdError(refusal, 'coderd answered 429, too many requests. Try again in a minute');
  if (refusal === 'unauthorized')
    throw new CoderdError(refusal, 'coderd answered 401 to a token that it accepted before');
}
