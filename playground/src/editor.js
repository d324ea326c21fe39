// The editor: CodeMirror, with what the language server says.
import {autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap} from '@codemirror/autocomplete';
import {defaultKeymap, history, historyKeymap, indentWithTab} from '@codemirror/commands';
import {HighlightStyle, StreamLanguage, bracketMatching, indentUnit, syntaxHighlighting} from '@codemirror/language';
import {modelica} from '@codemirror/legacy-modes/mode/modelica';
import {lintGutter, lintKeymap, setDiagnostics} from '@codemirror/lint';
import {highlightSelectionMatches, searchKeymap} from '@codemirror/search';
import {EditorState, Prec, StateEffect, StateField} from '@codemirror/state';
import {Decoration, EditorView, drawSelection, dropCursor, highlightActiveLine, highlightSpecialChars, hoverTooltip, keymap,
  lineNumbers} from '@codemirror/view';
import {tags} from '@lezer/highlight';

const URI = 'edit:Model.mo';
const named = {textDocument: {uri: URI}};

const colours = HighlightStyle.define([
  {tag: tags.keyword, color: 'var(--keyword)', fontWeight: '600'},
  {tag: [tags.atom, tags.bool, tags.number], color: 'var(--number)'},
  {tag: tags.string, color: 'var(--string)'},
  {tag: tags.comment, color: 'var(--faint)', fontStyle: 'italic'},
]);
// The page is dark or light; the editor takes its colours from there.
const look = EditorView.theme({
  '&': {height: '100%', color: 'var(--ink)', backgroundColor: 'var(--paper)', fontSize: '13.5px'},
  '.cm-content': {fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace', caretColor: 'var(--ink)'},
  '.cm-scroller': {overflow: 'auto', lineHeight: '1.45'},
  '&.cm-focused': {outline: 'none'},
  '.cm-cursor': {borderLeftColor: 'var(--ink)'},
  '.cm-gutters': {backgroundColor: 'var(--panel)', color: 'var(--faint)', border: 'none'},
  '.cm-activeLine, .cm-activeLineGutter': {backgroundColor: 'var(--active)'},
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {backgroundColor: 'var(--selection)'},
  '.cm-matchingBracket': {backgroundColor: 'var(--selection)'},
  '.cm-tooltip': {backgroundColor: 'var(--panel)', color: 'var(--ink)', border: '1px solid var(--line)', borderRadius: '4px', maxWidth: '40em'},
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {backgroundColor: 'var(--selection)', color: 'var(--ink)'},
  '.cm-diagnostic': {whiteSpace: 'pre-wrap', fontFamily: 'inherit'},
  '.cm-panels': {backgroundColor: 'var(--panel)', color: 'var(--ink)'},
  '.about': {padding: '4px 8px', maxHeight: '20em', overflow: 'auto', whiteSpace: 'pre-wrap'},
  '.about code': {fontFamily: 'ui-monospace, monospace', fontSize: '12.5px', display: 'block', color: 'var(--keyword)'},
  '.t-class, .t-struct, .t-interface, .t-type, .t-enum, .t-namespace': {color: 'var(--type)'},
  '.t-function': {color: 'var(--function)'},
  '.t-parameter, .t-enumMember': {color: 'var(--parameter)'},
});

// The order of `TYPES` in crates/lsp/src/tokens.rs.
const TYPES = ['namespace', 'class', 'struct', 'interface', 'type', 'enum', 'enumMember', 'function', 'parameter', 'variable', 'property'];
const setNames = StateEffect.define();
const names = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setNames)) return effect.value;
    return value.map(transaction.changes);
  },
  provide: field => EditorView.decorations.from(field),
});
function decorations(doc, data) {
  const ranges = [];
  let line = 0, character = 0;
  for (let at = 0; at + 4 < data.length; at += 5) {
    if (data[at]) { line += data[at]; character = 0; }
    character += data[at + 1];
    const type = TYPES[data[at + 3]];
    if (line >= doc.lines || !type || type === 'variable' || type === 'property') continue;
    const from = doc.line(line + 1).from + character, to = from + data[at + 2];
    if (to <= doc.length) ranges.push(Decoration.mark({class: `t-${type}`}).range(from, to));
  }
  return Decoration.set(ranges, true);
}

const position = (doc, offset) => {
  const line = doc.lineAt(offset);
  return {line: line.number - 1, character: offset - line.from};
};
const offset = (doc, {line, character}) => {
  if (line >= doc.lines) return doc.length;
  const found = doc.line(line + 1);
  return Math.min(found.from + character, found.to);
};

/** Documentation is shown as text; lines between fences look like code. */
function about(markdown) {
  const node = document.createElement('div');
  node.className = 'about';
  markdown.split(/^```.*$/m).forEach((part, at) => {
    const text = part.trim();
    if (!text) return;
    const child = document.createElement(at % 2 ? 'code' : 'div');
    child.textContent = at % 2 ? text : text.replaceAll('**', '').replaceAll('`', '');
    node.append(child);
  });
  return node;
}
const markdownOf = contents => typeof contents === 'string' ? contents
  : Array.isArray(contents) ? contents.map(markdownOf).join('\n') : contents?.value ?? '';

const KINDS = {2: 'method', 3: 'function', 5: 'property', 6: 'variable', 7: 'class', 8: 'interface', 9: 'namespace', 13: 'enum', 14: 'keyword', 20: 'constant', 21: 'constant', 22: 'class'};

/**
 * An editor in `parent`. `helper` answers for the language server; `changed(text)` and `found(diagnostics)` are called when there is
 * something new; `run` is bound to Ctrl-Enter.
 */
export function editor(parent, helper, {changed, found, run}) {
  let shown = null, timer = 0, checks = 0;
  // Questions about a text come behind the text itself.
  async function ask(state, method, params) {
    const text = state.doc.toString();
    if (text !== shown) {
      shown = text;
      helper.ask({ask: 'show', uri: URI, text}).catch(() => { shown = null; });
    }
    return helper.ask({ask: 'editor', method, params: {...named, ...params}});
  }
  async function check(view) {
    const state = view.state, number = ++checks;
    try {
      const {items} = await ask(state, 'textDocument/diagnostic', {});
      if (number !== checks || view.state.doc !== state.doc) return;
      const list = items.map(item => {
        const from = offset(state.doc, item.range.start), to = Math.max(from, offset(state.doc, item.range.end));
        return {from, to, severity: ['error', 'error', 'warning', 'info', 'hint'][item.severity ?? 1], message: item.message,
          source: item.code, line: item.range.start.line + 1};
      });
      view.dispatch(setDiagnostics(view.state, list));
      found(list);
      const {data} = await ask(state, 'textDocument/semanticTokens/full', {}) ?? {};
      if (data && view.state.doc === state.doc) view.dispatch({effects: setNames.of(decorations(state.doc, data))});
    } catch (error) {
      shown = null;
      found([{severity: 'error', message: error.message, line: 0}]);
    }
  }
  function later(view) {
    clearTimeout(timer);
    timer = setTimeout(() => check(view), 200);
  }
  const hover = hoverTooltip(async (view, at) => {
    const state = view.state;
    const answer = await ask(state, 'textDocument/hover', {position: position(state.doc, at)}).catch(() => null);
    if (!answer || view.state.doc !== state.doc) return null;
    const from = answer.range ? offset(state.doc, answer.range.start) : at, to = answer.range ? offset(state.doc, answer.range.end) : at;
    return {pos: from, end: to, above: true, create: () => ({dom: about(markdownOf(answer.contents))})};
  }, {hoverTime: 250});
  async function complete(context) {
    const word = context.matchBefore(/[\w']*/), before = context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos);
    if (!context.explicit && word.from === word.to && before !== '.') return null;
    const answer = await ask(context.state, 'textDocument/completion', {position: position(context.state.doc, context.pos)}).catch(() => null);
    const items = Array.isArray(answer) ? answer : answer?.items;
    if (!items?.length || context.aborted) return null;
    const options = items.map(item => ({
      label: item.label, detail: item.detail ?? item.labelDetails?.description, type: KINDS[item.kind] ?? 'text', sortText: item.sortText,
      apply: item.textEdit?.newText ?? item.insertText ?? item.label,
      info: item.documentation ? () => about(markdownOf(item.documentation)) : undefined,
    }));
    return {from: word.from, options, validFor: /^[\w']*$/};
  }
  const root = parent.attachShadow({mode: 'open'});
  const view = new EditorView({
    root, parent: root,
    state: EditorState.create({
      extensions: [
        lineNumbers(), highlightSpecialChars(), history(), drawSelection(), dropCursor(), bracketMatching(), closeBrackets(),
        highlightActiveLine(), highlightSelectionMatches(), lintGutter(), indentUnit.of('  '), StreamLanguage.define(modelica),
        syntaxHighlighting(colours), names, look, hover, autocompletion({override: [complete]}),
        Prec.highest(keymap.of([{key: 'Mod-Enter', run: () => { run(); return true; }}])),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
        EditorView.contentAttributes.of({'aria-label': 'Model'}),
        EditorView.updateListener.of(update => {
          if (!update.docChanged) return;
          changed(update.state.doc.toString());
          later(update.view);
        }),
      ],
    }),
  });
  return {
    view,
    text: () => view.state.doc.toString(),
    show: text => view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}}),
    async format() {
      const state = view.state;
      const edits = await ask(state, 'textDocument/formatting', {options: {tabSize: 2, insertSpaces: true}});
      if (!edits?.length || view.state.doc !== state.doc) return;
      view.dispatch({changes: edits.map(edit => ({from: offset(state.doc, edit.range.start), to: offset(state.doc, edit.range.end), insert: edit.newText}))});
    },
    goTo(line) {
      if (line < 1 || line > view.state.doc.lines) return;
      const {from} = view.state.doc.line(line);
      view.dispatch({selection: {anchor: from}, effects: EditorView.scrollIntoView(from, {y: 'center'})});
      view.focus();
    },
  };
}
