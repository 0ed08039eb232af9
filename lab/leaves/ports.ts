/** The product's own adapters on a world in the same process: no sockets, but every limit, schema and page of the APIs. */
import { ECSClient, ECSServiceException } from '@aws-sdk/client-ecs';
import type * as z from 'zod';
import { CoderdAdapter } from '../../lambda/adapters/coderd/coderd.ts';
import { CoderdError, CoderdHttp, type Document } from '../../lambda/adapters/coderd/http.ts';
import { EcsAdapter } from '../../lambda/adapters/ecs/ecs.ts';
import { describeMisfit } from '../../lambda/adapters/misfit.ts';
import type { Ports } from '../../lambda/app/ports.ts';
import type { EpochMs, OrganizationId } from '../../lambda/core/brands.ts';
import type { CoderdModel } from '../coderd/model.ts';
import { QueryParameters } from '../coderd/parameters.ts';
import type { TokenUser } from '../coderd/tokens.ts';
import { routeOf } from '../coderd/workspace-routes.ts';
import { callEcs } from '../ecs/api.ts';
import { AwsError } from '../ecs/errors.ts';
import type { EcsModel } from '../ecs/model.ts';
import type { World } from '../world.ts';
import { type Line, LineError } from './line.ts';
import type { Pace } from './pace.ts';

/** The ports of one invocation. */
export function portsOf(
  world: World,
  lines: { readonly aws: Line; readonly coderd: Line; readonly pace: Pace },
): Ports {
  return {
    ecs: new EcsAdapter(new WorldEcs(world.ecs, lines.aws), world.ecs.clusterName),
    coderd: new CoderdAdapter(new WorldCoderd(world.coderd, lines.coderd)),
    clock: { now: () => lines.pace.now(), sleep: (ms) => lines.pace.wait(ms) },
  };
}

const NOBODY = { region: 'eu-central-1', credentials: { accessKeyId: 'lab', secretAccessKey: 'lab' } };

class WorldEcs extends ECSClient {
  readonly #model: EcsModel;
  readonly #line: Line;

  constructor(model: EcsModel, line: Line) {
    super(NOBODY);
    this.#model = model;
    this.#line = line;
  }

  override async send(command: { readonly input: object }): Promise<never> {
    const operation = command.constructor.name.replace(/Command$/, '');
    const answer = await this.#line.call(() => answerAws(this.#model, operation, command.input));
    return withDates(answer) as never;
  }
}

/** An error has the name that the SDK gives it. */
function answerAws(model: EcsModel, operation: string, input: object): object {
  try {
    return callEcs(model, operation, input);
  } catch (cause) {
    if (!(cause instanceof AwsError)) throw cause;
    const { type: name, message } = cause;
    throw new ECSServiceException({ name, message, $fault: 'client', $metadata: {} });
  }
}

/** The SDK makes a Date of each epoch second that AWS writes. */
function withDates(answer: object): object {
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(itemWithDates) : value,
    ]),
  );
}

const TIMES: readonly string[] = [
  'createdAt',
  'updatedAt',
  'pullStartedAt',
  'pullStoppedAt',
  'startedAt',
  'stoppingAt',
  'executionStoppedAt',
  'stoppedAt',
  'expirationDate',
];

function itemWithDates(item: unknown): unknown {
  if (typeof item !== 'object' || item === null) return item;
  const dated: Record<string, unknown> = { ...item };
  for (const name of TIMES) if (typeof dated[name] === 'number') dated[name] = new Date(dated[name] * 1000);
  if (Array.isArray(dated.deployments)) dated.deployments = dated.deployments.map(itemWithDates);
  return dated;
}

class WorldCoderd extends CoderdHttp {
  readonly #model: CoderdModel;
  readonly #line: Line;

  constructor(model: CoderdModel, line: Line) {
    super({ url: 'http://127.0.0.1', token: { read: async () => '' } });
    this.#model = model;
    this.#line = line;
  }

  override get<T extends z.ZodType>(
    path: string,
    query: Readonly<Record<string, string>>,
    schema: T,
  ): Promise<Document<z.output<T>>> {
    return this.#ask(() => answerOf(this.#model, path, query), schema);
  }

  override post<T extends z.ZodType>(path: string, body: unknown, schema: T): Promise<Document<z.output<T>>> {
    return this.#ask(() => answerOf(this.#model, path, {}, JSON.stringify(body)), schema);
  }

  async #ask<T extends z.ZodType>(answer: () => unknown, schema: T): Promise<Document<z.output<T>>> {
    try {
      return await this.#line.call(() => this.#answer(answer(), schema));
    } catch (cause) {
      if (!(cause instanceof LineError)) throw cause;
      throw new CoderdError('unreachable', `no answer from coderd (${cause.message})`, { cause });
    }
  }

  #answer<T extends z.ZodType>(value: unknown, schema: T) {
    const result = schema.safeParse(value);
    if (!result.success) throw new CoderdError('misfit', describeMisfit(result.error, value));
    // the Date header has whole seconds
    const date = (Math.floor(this.#model.timeline.now() / 1000) * 1000) as EpochMs;
    return { value: result.data, date };
  }
}

const ANYBODY: TokenUser = {
  userId: '',
  username: '',
  isOwner: false,
  canRead: 'all',
  canReadWorkspaces: 'all',
};

/** What `lab/coderd/http.ts` answers to the requests of the adapter. */
function answerOf(
  model: CoderdModel,
  path: string,
  query: Readonly<Record<string, string>>,
  body = '',
): unknown {
  const [, , , resource, organization = '', list] = path.split('/');
  const rest = path.split('/').slice(4);
  const route = routeOf(resource, rest);
  if (route !== undefined) {
    const parameters = new QueryParameters(new URLSearchParams(query));
    return route.handle({ model, user: ANYBODY, parameters, rest, body }).body;
  }
  if (resource === 'buildinfo') return { version: model.version.text };
  if (list === undefined) return model.organizations.all.map(({ id, name }) => ({ id, name }));
  const organizationId = organization as OrganizationId;
  if (list === 'provisionerjobs')
    return model.listJobs({
      organizationId,
      limit: Number(query.limit),
      statuses: words(query.status),
      ids: words(query.ids),
      tags: {},
      initiatorId: undefined,
    });
  return model.listDaemons({
    organizationId,
    limit: Number(query.limit),
    ids: [],
    tags: {},
    offline: query.offline === 'true',
    statuses: [],
    maxAgeMs: query.max_age === '1h' ? 3_600_000 : 0,
  });
}

const words = (text: string | undefined): readonly string[] => (text === undefined ? [] : text.split(','));
