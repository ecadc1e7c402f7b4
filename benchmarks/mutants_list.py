"""The mutants of some modules, listed by cosmic-ray; runs in its environment, so it imports nothing of ours.

``python mutants_list.py FILE …`` prints a JSON object: file -> its mutants, each with operator, line and source.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

# One replacement of each arithmetic operator, the boundary and the opposite of each comparison. The rest of what
# cosmic-ray has (a shift or remainder of floats, the identity of numbers) dies by its types and would flatter the rate.
_BINARY = "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Div Mod_Mul Pow_Mul BitOr_BitAnd BitAnd_BitOr BitXor_BitAnd"
_COMPARISON = "Eq_NotEq NotEq_Eq Lt_LtE Lt_GtE LtE_Lt LtE_Gt Gt_GtE Gt_LtE GtE_Gt GtE_Lt Is_IsNot IsNot_Is"
_UNARY = "Delete_Not Delete_Invert USub_UAdd"
_OTHER = (
    "AddNot ReplaceTrueWithFalse ReplaceFalseWithTrue ReplaceAndWithOr ReplaceOrWithAnd ReplaceBreakWithContinue "
    "ReplaceContinueWithBreak ExceptionReplacer NumberReplacer RemoveDecorator ZeroIterationForLoop"
)
OPERATORS = (
    *(f"ReplaceBinaryOperator_{pair}" for pair in _BINARY.split()),
    *(f"ReplaceComparisonOperator_{pair}" for pair in _COMPARISON.split()),
    *(f"ReplaceUnaryOperator_{pair}" for pair in _UNARY.split()),
    *_OTHER.split(),
)


def program(source: str) -> str | None:
    """What a module does, whatever its annotations and its layout; None if it is not Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.arguments):
            # The stars and strokes of a signature look like operators to cosmic-ray.
            node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            node.defaults = [*node.defaults, *(value for value in node.kw_defaults if value is not None)]
            node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def mutants(source: str) -> list[dict[str, Any]]:
    """Each mutant once, in the order of lines; those that change nothing or are not Python are left out."""
    tree = get_ast(source)
    seen = {program(source), None}
    found = []
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        positions = [start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)]
        for occurrence, (line, column) in enumerate(positions):
            mutated = mutate_code(source, operator, occurrence)
            done = None if mutated is None else program(mutated)
            if done not in seen:
                seen.add(done)
                found.append({"operator": name, "line": line, "column": column, "source": mutated})
    return sorted(found, key=lambda mutant: (mutant["line"], mutant["column"]))


def main() -> None:
    listed = {name: mutants(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]}
    json.dump(listed, sys.stdout)


if __name__ == "__main__":
    main()
