"""A reference run by torch as people write it, in the types of its tensors: what `--against torch` races."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tsc.notation import Binary, Call, Minus, Node, Number, Ref, Swapped, walk
from tsc.verify.plan import PlanError

Launch = Callable[[Mapping[str, Any]], Any]
"""Runs on the arrays of one set."""

_NARROW = ("float8_e4m3fn", "float8_e5m2")


def evaluate(torch: Any, node: Node, arrays: Mapping[str, Any]) -> Any:
    """The value of a reference, each operation a call of torch's. Raises PlanError for an unknown name."""

    def value(inner: Node) -> Any:
        return evaluate(torch, inner, arrays)

    match node:
        case Number(value=number):
            return number
        case Ref(name=name):
            if name not in arrays:
                raise PlanError(f"the reference reads `{name}`, which is neither a param nor a size")
            return arrays[name]
        case Minus(operand=operand):
            return -value(operand)
        case Swapped(operand=operand):
            return value(operand).mT
        case Binary(op=op, left=left, right=right):
            return _joined(op, value(left), value(right))
        case Call(function=function, args=args):
            return _called(torch, function, [value(one) for one in args])


def _joined(op: str, left: Any, right: Any) -> Any:
    match op:
        case "@":
            return left @ right
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "==":
            return left == right
        case _:
            return left != right


def _called(torch: Any, function: str, args: list[Any]) -> Any:
    if function == "where":
        return torch.where(*args)
    (it,) = args
    match function:
        case "softmax":
            return torch.softmax(it, dim=-1)
        case "relu" | "gelu" | "silu":
            return getattr(torch.nn.functional, function)(it)
        case "sigmoid" | "tanh" | "exp" | "rsqrt":
            return getattr(torch, function)(it)
        case "max":
            return it.amax(dim=-1, keepdim=True)
        case "mean" | "sum":
            return getattr(it, function)(dim=-1, keepdim=True)
        case _:  # `causal`: the last row sees every column
            rows, columns = it.shape[-2:]
            seen = torch.ones(rows, columns, dtype=torch.bool, device=it.device).tril(columns - rows)
            return it.masked_fill(~seen, float("-inf"))


def product_of(node: Node) -> Binary | None:
    """The one matrix product of a reference, None if it has none or several."""
    products = [it for it in walk(node) if isinstance(it, Binary) and it.op == "@"]
    return products[0] if len(products) == 1 else None


def cublas(torch: Any, output: str, node: Node, arrays: Mapping[str, Any]) -> tuple[str, Launch]:
    """How torch hands a reference with one matrix product to cuBLAS, in words and as a call.

    One product alone is `torch.matmul` into the output, one with a bias `torch.addmm`, 8-bit floats
    `torch._scaled_mm`; anything around the product is run eagerly. Raises PlanError without a product.
    """
    product = product_of(node)
    if product is None:
        raise PlanError("cuBLAS multiplies matrices, and the reference has not one product; race `torch`")
    left = evaluate(torch, product.left, arrays)
    if str(left.dtype).rpartition(".")[2] in _NARROW:
        return _scaled(torch, output, product, arrays)
    if node is product:

        def matmul(given: Mapping[str, Any]) -> Any:
            operands = (evaluate(torch, side, given) for side in (product.left, product.right))
            return torch.matmul(*operands, out=given[output])

        return f"torch.matmul({show(product.left)}, {show(product.right)}, out={output})", matmul
    bias = _bias(node, product, arrays)
    if bias is not None and left.dim() == 2:
        name = bias

        def addmm(given: Mapping[str, Any]) -> Any:
            operands = (evaluate(torch, side, given) for side in (product.left, product.right))
            return torch.addmm(given[name], *operands, out=given[output])

        sides = f"{show(product.left)}, {show(product.right)}"
        return f"torch.addmm({bias}, {sides}, out={output})", addmm
    return eager(torch, output, node)


def eager(torch: Any, output: str, node: Node) -> tuple[str, Launch]:
    """The whole reference, operation by operation; one that computes nothing is a copy into the output."""
    if isinstance(node, (Ref, Swapped)):
        return f"{output}.copy_({show(node)})", lambda given: given[output].copy_(
            evaluate(torch, node, given)
        )
    return f"torch, eagerly: {show(node)}", lambda given: evaluate(torch, node, given)


def _bias(node: Node, product: Binary, arrays: Mapping[str, Any]) -> str | None:
    if not isinstance(node, Binary) or node.op != "+":
        return None
    rest = node.right if node.left is product else node.left
    if product not in (node.left, node.right) or not isinstance(rest, Ref):
        return None
    tensor = arrays.get(rest.name)
    same = getattr(tensor, "dtype", None) == evaluate_dtype(product, arrays)
    return rest.name if same and tensor is not None and tensor.dim() in (1, 2) else None


def evaluate_dtype(product: Binary, arrays: Mapping[str, Any]) -> Any:
    """The type of a product: that of its left operand's tensor."""
    first = next(it for it in walk(product.left) if isinstance(it, Ref))
    return getattr(arrays.get(first.name), "dtype", None)


def _scaled(torch: Any, output: str, product: Binary, arrays: Mapping[str, Any]) -> tuple[str, Launch]:
    device = next(iter(it for it in arrays.values() if hasattr(it, "device"))).device
    one = torch.ones((), device=device)
    dtype = arrays[output].dtype

    def run(given: Mapping[str, Any]) -> Any:
        left, right = (evaluate(torch, side, given) for side in (product.left, product.right))
        return torch._scaled_mm(left, right, scale_a=one, scale_b=one, out_dtype=dtype, use_fast_accum=True)

    sides = f"{show(product.left)}, {show(product.right)}"
    return f"torch._scaled_mm({sides}, tensor scales of 1, use_fast_accum=True)", run


def show(node: Node) -> str:
    """A reference as text."""
    match node:
        case Number(value=number):
            return f"{number:g}"
        case Ref(name=name):
            return name
        case Minus(operand=operand):
            return f"-{_operand(operand)}"
        case Swapped(operand=operand, suffix=suffix):
            return f"{_operand(operand)}.{suffix}"
        case Binary(op=op, left=left, right=right):
            return f"{_operand(left)} {op} {_operand(right)}"
        case Call(function=function, args=args):
            return f"{function}({', '.join(map(show, args))})"


def _operand(node: Node) -> str:
    return f"({show(node)})" if isinstance(node, (Binary, Minus)) else show(node)
