// The WebAssembly module as one function from questions to answers. It is given nothing but the functions below: no files, no
// clock, no connection. What it computes often it makes modules of, which are given its memory and its table and nothing else.

const encoder = new TextEncoder(), decoder = new TextDecoder();

/**
 * Makes an engine of a compiled module. `page.due()` says whether a picture is wanted, `page.picture(svg, time)` gets it;
 * `page.kernels` is false where no modules are to be made, and `page.made(count)` is told of those that are. After a question that ends the module (`Broken`) the engine is of no use any more.
 */
export async function engine(module, page = {due: () => false, picture() {}}) {
  let lastWords = null;
  const text = (at, length) => decoder.decode(new Uint8Array(exports.memory.buffer, at, length));
  const {exports} = await WebAssembly.instantiate(module, {page: {
    due: () => page.due() ? 1 : 0,
    picture: (at, length, time) => page.picture(text(at, length), time),
    panicked: (at, length) => { lastWords = text(at, length); },
    load: (at, length, count) => page.kernels === false ? NOWHERE : kernels.load(new Uint8Array(exports.memory.buffer, at, length), count),
    unload: (first, count) => kernels.unload(first, count),
  }});
  const kernels = new Kernels(exports.memory, exports.__indirect_function_table, page.made);
  return question => {
    const bytes = encoder.encode(JSON.stringify(question));
    let answer;
    try {
      const at = exports.saltus_room(bytes.length);
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
      const length = exports.saltus_ask();
      answer = JSON.parse(text(exports.saltus_answer(), length));
    } catch (error) {
      throw new Broken(lastWords, error);
    }
    if ('refused' in answer) throw new Error(answer.refused);
    return answer.answer;
  };
}

/** There are no functions: the module goes on without them. */
const NOWHERE = 0xffffffff;

/** Functions of modules that the module makes, in its table. */
class Kernels {
  /** Places in the table that have been handed back: how many in a row, and where. */
  #free = new Map();

  constructor(memory, table, made = () => {}) {
    this.memory = memory;
    this.table = table;
    this.made = made;
  }

  /** Puts the functions of a module, `0` and so on, into the table; returns the first place. */
  load(bytes, count) {
    let first = NOWHERE;
    try {
      const {exports} = new WebAssembly.Instance(new WebAssembly.Module(bytes), {maker: {memory: this.memory, table: this.table}});
      first = this.#free.get(count)?.pop() ?? this.table.grow(count);
      for (let at = 0; at < count; at++) this.table.set(first + at, exports[at]);
      this.made(count);
      return first;
    } catch {
      if (first !== NOWHERE) this.unload(first, count);
      return NOWHERE;
    }
  }

  unload(first, count) {
    for (let at = 0; at < count; at++) this.table.set(first + at, null);
    if (!this.#free.has(count)) this.#free.set(count, []);
    this.#free.get(count).push(first);
  }
}

/** The module has ended: an internal error, or the model needs more than a page has. */
export class Broken extends Error {
  constructor(lastWords, error) {
    const deep = error instanceof RangeError;
    super(deep ? 'the model is nested too deeply for a browser; the program for the command line has more room'
      : lastWords ? `internal error: ${lastWords}` : `the compiler stopped: ${error.message}`);
  }
}
