"""The server over standard input and output, with a client that checks every message against the protocol."""

import os

import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

TEXT = """package P
  model Part
    parameter Real R(unit = "Ohm") = 1 "Resistance";
    Real x(start = 1, fixed = true);
  equation
    R*der(x) = -x;
  end Part;
  model Whole
    Part part(R = 2);
  end Whole;
end P;
"""
NAME = "untitled:P.mo"


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[os.environ["SALTUS"], "lsp"]))
async def client(lsp_client: LanguageClient):
    @lsp_client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams):
        return None

    params = types.InitializeParams(capabilities=client_capabilities("visual-studio-code"), root_uri=None)
    await lsp_client.initialize_session(params)
    document = types.TextDocumentItem(uri=NAME, language_id="modelica", version=1, text=TEXT)
    lsp_client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))
    yield
    await lsp_client.shutdown_session()


def place(text: str) -> types.Position:
    offset = TEXT.index(text)
    line = TEXT.count("\n", 0, offset)
    return types.Position(line=line, character=offset - (TEXT.rfind("\n", 0, offset) + 1))


DOCUMENT = types.TextDocumentIdentifier(uri=NAME)


async def test_everything_a_client_asks(client: LanguageClient):
    at = place("R = 2")
    hover = await client.text_document_hover_async(types.HoverParams(text_document=DOCUMENT, position=at))
    assert "Ohm" in hover.contents.value
    found = await client.text_document_definition_async(types.DefinitionParams(text_document=DOCUMENT, position=at))
    assert found[0].range.start == place("R(unit")
    completion = await client.text_document_completion_async(types.CompletionParams(text_document=DOCUMENT, position=place("part(R")))
    assert any(item.label == "Part" for item in completion.items)
    edit = await client.text_document_rename_async(types.RenameParams(text_document=DOCUMENT, position=at, new_name="resistance"))
    assert len(edit.document_changes[0].edits) == 3
    await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=DOCUMENT))
    await client.text_document_folding_range_async(types.FoldingRangeParams(text_document=DOCUMENT))
    await client.text_document_selection_range_async(types.SelectionRangeParams(text_document=DOCUMENT, positions=[at]))
    tokens = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(text_document=DOCUMENT))
    assert len(tokens.data) % 5 == 0 and tokens.data
    everything = types.Range(start=types.Position(0, 0), end=types.Position(11, 0))
    await client.text_document_inlay_hint_async(types.InlayHintParams(text_document=DOCUMENT, range=everything))
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(text_document=DOCUMENT))
    assert [lens.command.title for lens in lenses][:3] and len(lenses) >= 6
    context = types.CodeActionContext(diagnostics=[])
    await client.text_document_code_action_async(types.CodeActionParams(text_document=DOCUMENT, range=everything, context=context))
    await client.workspace_symbol_async(types.WorkspaceSymbolParams(query="part"))
    arguments = types.ExecuteCommandParams(command="saltus.flatten", arguments=[NAME, "P.Whole"])
    flat = await client.workspace_execute_command_async(arguments)
    assert "part.x" in str(flat)


async def test_diagnostics_come_by_themselves(client: LanguageClient):
    changed = types.TextDocumentContentChangeWholeDocument(text=TEXT.replace("der(x)", "der(y)"))
    document = types.VersionedTextDocumentIdentifier(uri=NAME, version=2)
    client.text_document_did_change(types.DidChangeTextDocumentParams(text_document=document, content_changes=[changed]))
    while not any(d.code == "E0201" for d in client.diagnostics.get(NAME, [])):
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)


