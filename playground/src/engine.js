// The WebAssembly module as one function from questions to answers. It is given nothing but the three functions below: no
// files, no clock, no connection.

const encoder = new TextEncoder(), decoder = new TextDecoder();

/**
 * Makes an engine of a compiled module. `page.due()` says whether a picture is wanted, `page.picture(svg, time)` gets it.
 * After a question that ends the module (`Broken`) the engine is of no use any more.
 */
export async function engine(module, page = {due: () => false, picture() {}}) {
  let lastWords = null;
  const text = (at, length) => decoder.decode(new Uint8Array(exports.memory.buffer, at, length));
  const {exports} = await WebAssembly.instantiate(module, {page: {
    due: () => page.due() ? 1 : 0,
    picture: (at, length, time) => page.picture(text(at, length), time),
    panicked: (at, length) => { lastWords = text(at, length); },
  }});
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

/** The module has ended: an internal error, or the model needs more than a page has. */
export class Broken extends Error {
  constructor(lastWords, error) {
    const deep = error instanceof RangeError;
    super(deep ? 'the model is nested too deeply for a browser; the program for the command line has more room'
      : lastWords ? `internal error: ${lastWords}` : `the compiler stopped: ${error.message}`);
  }
}
