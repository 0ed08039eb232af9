/** Keeps the record of builds in one parameter of Systems Manager. */
import { GetParametersCommand, PutParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import { messageOf } from '../../decision/model/message-of.ts';
import type { RecordStore, StockRecord } from '../../look/stock/kept-record.ts';
import { ParameterError } from './parameters.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';

/** A function in a network without a route to Systems Manager gets no answer at all. */
const MOST_MS = 2_000;

export class RecordParameter implements RecordStore {
  readonly #client: SSMClient;
  readonly #name: string;
  readonly #mostMs: number;

  /** `client`: one that does not try again. `mostMs`: the longest wait for an answer. */
  constructor(client: SSMClient, name: string, mostMs = MOST_MS) {
    this.#client = client;
    this.#name = name;
    this.#mostMs = mostMs;
  }

  /** As `RecordStore.read`. Throws ParameterError. */
  async read(): Promise<StockRecord | undefined> {
    const command = new GetParametersCommand({ Names: [this.#name] });
    const { Parameters: [found] = [] } = await this.#answered(
      'reading',
      this.#client.send(command, this.#within()),
    );
    return found?.Value === undefined ? undefined : decodeRecord(found.Value);
  }

  /** As `RecordStore.write`. Throws ParameterError. */
  async write(record: StockRecord): Promise<void> {
    const Value = encodeRecord(record);
    if (Value === undefined) return;
    const named = { Name: this.#name, Value, Type: 'String', Tier: 'Advanced', Overwrite: true } as const;
    await this.#answered('writing', this.#client.send(new PutParameterCommand(named), this.#within()));
  }

  async #answered<T>(act: 'reading' | 'writing', answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (cause) {
      throw new ParameterError(
        `${act} the record of builds: SSM parameter ${this.#name}: ${messageOf(cause)}; scaling goes on without it. Check that the function can reach Systems Manager and that its role may read and write this parameter (docs/operate.md, "The record of builds")`,
        { cause },
      );
    }
  }

  #within(): { readonly abortSignal: AbortSignal } {
    return { abortSignal: AbortSignal.timeout(this.#mostMs) };
  }
}
