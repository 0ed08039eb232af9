/** The coderd on which the story is played, real or simulated. It knows the ids of the story's names. */
import { CoderdHttp } from '../../../../lambda/adapters/coderd/http/http.ts';
import { Secret } from '../../../../lambda/adapters/shared/secret.ts';
import type { EpochMs } from '../../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../../lambda/decision/model/tags.ts';
import type { Transition } from '../../../world/coderd/tables/templates.ts';
import type { UserStatus } from '../../../world/coderd/tables/users.ts';
import { askCoderd } from './ask.ts';
import { Names } from './names.ts';
import { type Answer, ConformanceError, type Question } from './question.ts';

/** `template-admin` is the site-wide role, which cannot read jobs. */
export type Role = 'owner' | 'organization-template-admin' | 'template-admin' | 'member';

/** How the jobs of a template version behave: duration in milliseconds, and whether they fail. */
export type Script = {
  readonly import?: { readonly ms?: number; readonly fails?: boolean };
} & { readonly [Key in Transition]?: { readonly ms?: number; readonly fails?: boolean } };

export type NewUser = { readonly name: string; readonly role: Role; readonly status: UserStatus };
export type NewTemplate = { readonly name: string; readonly version: string };

export type NewVersion = {
  readonly name: string;
  /** The template of which it is a version. @default none yet */
  readonly template?: string;
  readonly tags: Tags;
  readonly script?: Script;
  /** A tag with the value of this parameter; `value` is its default (`coder_workspace_tags`). */
  readonly parameter?: { readonly name: string; readonly value: string };
};

export type NewWorkspace = {
  readonly name: string;
  readonly template: string;
  readonly owner: string;
  /** Who asks for it and its builds, which makes a dormant user active. @default the owner */
  readonly by?: string;
  readonly schedule?: string;
  readonly ttlMs?: number;
  readonly parameters?: Tags;
};

export type StageOutcome = 'done' | { readonly status: number; readonly message: string };

/** The builds that the lifecycle executor has started, and its errors, by workspace. */
export type Tick = {
  readonly transitions: Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<string, string>>;
};

type NamedBuild = {
  readonly id: string;
  readonly number: number;
  readonly job: NamedJob;
};
type NamedJob = { readonly id: string; readonly fileId: string };

const POLL_MS = 100;

export abstract class Stage {
  readonly version: string;
  readonly names: Names;
  calls = 0;
  protected readonly tokens = new Map<string, string>();
  protected abstract readonly url: string;
  protected abstract readonly timeoutMs: number;

  constructor(version: string, startedAt: number) {
    this.version = version;
    this.names = new Names(startedAt);
    this.names.set('version', version);
  }

  abstract now(): EpochMs;

  ask(question: Question): Promise<Answer> {
    this.calls += 1;
    const { as = 'first' } = question;
    return askCoderd({ url: this.url, names: this.names, token: this.tokenOf(as) }, question);
  }

  /** The product's HTTP client, with this user's token. */
  http(as: string): CoderdHttp {
    const token = this.tokens.get(as) ?? '';
    return new CoderdHttp({ url: this.url, token: { read: async () => new Secret(token) } });
  }

  abstract addUser(user: NewUser): Promise<void>;
  abstract setUserStatus(name: string, status: UserStatus): Promise<void>;
  abstract importVersion(version: NewVersion): Promise<StageOutcome>;
  abstract cancelImport(version: string): Promise<StageOutcome>;
  abstract addTemplate(template: NewTemplate): Promise<StageOutcome>;
  abstract activate(template: string, version: string): Promise<StageOutcome>;
  abstract addWorkspace(workspace: NewWorkspace): Promise<StageOutcome>;
  abstract build(workspace: string, transition: Transition): Promise<StageOutcome>;
  abstract cancelBuild(workspace: string): Promise<StageOutcome>;
  abstract setSchedule(workspace: string, schedule: string | undefined): Promise<StageOutcome>;
  abstract setTtl(workspace: string, ttlMs: number): Promise<StageOutcome>;

  /** Starts a daemon, and returns once it is connected. */
  abstract startDaemon(name: string, tags: Tags): Promise<void>;
  /** `terminate` acts like SIGTERM, `kill` like SIGKILL. Returns once the daemon is gone. */
  abstract stopDaemon(name: string, how: 'terminate' | 'kill'): Promise<void>;
  abstract tick(at: EpochMs): Promise<Tick>;
  /** Sets when the daemon was last seen: a state that no request can create. */
  abstract setLastSeen(daemon: string, at: EpochMs): Promise<void>;
  /** Removes the workspace's next_start_at: a state that no request can create. */
  abstract forgetNextStart(workspace: string): Promise<void>;

  /** @throws ConformanceError after 20 s on a real coderd, 120 s of virtual time on the simulated one */
  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const end = this.now() + this.timeoutMs;
    while (!(await isSo())) {
      if (this.now() > end)
        throw new ConformanceError(
          `playing the story: timed out after ${this.timeoutMs / 1000} s waiting until ${what}`,
        );
      await this.pass(POLL_MS);
    }
  }

  abstract pass(ms: number): Promise<void>;

  tokenOf(as: string): string | undefined {
    return as === 'nobody' ? undefined : (this.tokens.get(as) ?? as);
  }

  protected addToken(user: string, token: string): void {
    this.tokens.set(user, token);
    this.names.set(`key of ${user}`, token.split('-')[0] ?? '');
  }

  protected nameBuild(workspace: string, { id, number, job }: NamedBuild): void {
    this.names.set(`latest build of ${workspace}`, id);
    this.names.set(`build ${number} of ${workspace}`, id);
    this.nameJob(`job ${number} of ${workspace}`, job);
  }

  protected nameJob(name: string, { id, fileId }: NamedJob): void {
    this.names.set(name, id);
    if (this.names.find(fileId) === undefined) this.names.set(`file of ${name}`, fileId);
  }
}
