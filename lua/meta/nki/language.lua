---@meta nki.language
-- Written by `./dev docs`: what editors show. Nothing is run.
local nl = {}

---@alias nki.Memory any a memory: nl.sbuf, nl.psum, nl.private_hbm, nl.shared_hbm
---@alias nki.Slice any what nl.ds gives
---@alias nki.Axis any what nl.nc gives
---@class nki.Index an index expression
---@class nki.Instruction what a call of an instruction gives
---@class nki.Tensor a tensor of a kernel
---@field [any] nki.Tensor a view, or what is copied into it
---@operator add(nki.Tensor|number): nki.Tensor
---@operator sub(nki.Tensor|number): nki.Tensor
---@operator mul(nki.Tensor|number): nki.Tensor
---@operator div(nki.Tensor|number): nki.Tensor
---@operator pow(nki.Tensor|number): nki.Tensor
---@operator mod(nki.Tensor|number): nki.Tensor
---@operator band(nki.Tensor|number): nki.Tensor
---@operator bor(nki.Tensor|number): nki.Tensor
---@operator bxor(nki.Tensor|number): nki.Tensor
---@operator shl(nki.Tensor|number): nki.Tensor
---@operator shr(nki.Tensor|number): nki.Tensor
---@operator unm: nki.Tensor
---@operator bnot: nki.Tensor
---@field shape any sizes of the axes
---@field strides any list of element strides, partition axis first on chip
---@field offset any element offset of the view in its tensor
---@field name any name of the tensor
---@field dtype any element type
---@field buffer any memory
---@field ndim any number of axes
---@field size any number of elements
---@field itemsize any bytes per element
local tensor = {}

---Do the elements follow each other in memory (per partition on chip)?
function tensor:is_contiguous() end

---List of {stride, count} pairs.
function tensor:get_pattern() end

---Does the view have a run-time offset?
function tensor:is_indirect() end

---Reorders the axes.
---@return nki.Tensor
function tensor:permute(dims) end

---Repeats an axis of size 1.
---@return nki.Tensor
function tensor:broadcast(dim, size) end

---Inserts an axis of size 1.
---@return nki.Tensor
function tensor:expand_dim(dim) end

---Drops an axis of size 1.
---@return nki.Tensor
function tensor:squeeze_dim(dim) end

---Splits one axis; one size may be -1.
---@return nki.Tensor
function tensor:reshape_dim(dim, shape) end

---Merges the axes start_dim..end_dim.
---@return nki.Tensor
function tensor:flatten_dims(start_dim, end_dim) end

---Another shape over the same elements.
---@return nki.Tensor
function tensor:reshape(shape) end

---einops-like split, permute, merge: t:rearrange("b (h w) -> b w h", {h = 4}).
---@return nki.Tensor
function tensor:rearrange(src_pattern, dst_pattern, fixed_sizes) end

---Elements start, start+step ... below end of one axis.
---@return nki.Tensor
function tensor:slice(dim, start, stop, step) end

---One index of an axis, which goes; a register or (1,1) tile selects at run time.
---@return nki.Tensor
function tensor:select(dim, index) end

---Row vector_offset[p] of an HBM tensor for partition p.
---@return nki.Tensor
function tensor:vector_select(dim, vector_offset) end

---gen4: num_elem elements of each partition, picked at run time by the numbers in index: (P, num_elem).
---@return nki.Tensor
function tensor:indirect(index, num_elem) end

---An access pattern {{stride, count}, ...} over the storage.
---@return nki.Tensor
function tensor:ap(pattern, offset, scalar_offset, vector_offset, indirect_dim, dtype) end

---The same bytes as another dtype.
---@return nki.Tensor
function tensor:view(dtype) end

---Same as view.
---@return nki.Tensor
function tensor:reinterpret_cast(dtype) end

---A converted copy in SBUF.
---@return nki.Tensor
function tensor:astype(dtype) end

---nl.broadcast_to(self, shape)
---@return nki.Tensor
function tensor:broadcast_to(shape) end

---nl.expand_dims(self, axis)
---@return nki.Tensor
function tensor:expand_dims(axis) end

---Raises unless the shape is this one; returns the tensor.
---@return nki.Tensor
function tensor:assert_shape(shape) end

---A tensor whose elements are not initialised; address = {partition, byte} places it.
---shape: sizes, partition axis first (at most 128 on chip); any dtype and memory, SBUF when not given; address in partitions and bytes per partition
---@param shape integer[]
---@param dtype string
---@param buffer? nki.Memory
---@param name? string
---@param address? any
---@return nki.Tensor
function nl.ndarray(shape, dtype, buffer, name, address) end

---A tensor of zeros.
---shape: sizes, partition axis first (at most 128); on chip only
---@param shape integer[]
---@param dtype string
---@param buffer? nki.Memory
---@param name? string
---@return nki.Tensor
function nl.zeros(shape, dtype, buffer, name) end

---A tensor of ones.
---shape: sizes, partition axis first (at most 128); on chip only
---@param shape integer[]
---@param dtype string
---@param buffer? nki.Memory
---@param name? string
---@return nki.Tensor
function nl.ones(shape, dtype, buffer, name) end

---A tensor filled with a number.
---shape: sizes, partition axis first (at most 128); on chip only
---@param shape integer[]
---@param fill_value any
---@param dtype string
---@param buffer? nki.Memory
---@param name? string
---@return nki.Tensor
function nl.full(shape, fill_value, dtype, buffer, name) end

---Zeros with the shape, dtype and memory of x.
---x: any tensor; a tensor of the same shape is made, in SBUF when x is in HBM and buffer is not given
---@param x nki.Tensor
---@param dtype? string
---@param buffer? nki.Memory
---@param name? string
---@return nki.Tensor
function nl.zeros_like(x, dtype, buffer, name) end

---An uninitialised tensor with the shape, dtype and memory of x.
---x: any tensor; a tensor of the same shape is made, in SBUF when x is in HBM and buffer is not given
---@param x nki.Tensor
---@param dtype? string
---@param buffer? nki.Memory
---@param name? string
---@return nki.Tensor
function nl.empty_like(x, dtype, buffer, name) end

---An SBUF tile with the elements of an HBM tensor.
---src: HBM, at most 128 rows (axis 0 becomes the partition axis), or a view with run-time rows; any dtype
---@param src nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.load(src, dtype) end

---Writes an SBUF tile to an HBM tensor of the same shape.
---dst: HBM; value: a tile of as many elements, converted to dst's dtype
---@param dst nki.Tensor
---@param value any
function nl.store(dst, value) end

---An SBUF tile with the transpose of a 2-D HBM tensor.
---src: [M, K] in HBM; the tile is [K, M], K at most 128
---@param src nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.load_transpose2d(src, dtype) end

---A copy of a tile in SBUF; another dtype converts through f32.
---x: any tile on chip; the result has x's shape, in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.copy(x, dtype) end

---x with partitions and free elements swapped; through the Tensor engine the result is in PSUM.
---x: [P, F], P and F at most 128
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.transpose(x, dtype) end

---x @ y (transpose_x: x is given as [K,M]) in f32, in PSUM.
---x: [M, K], or [K, M] with transpose_x; y: [K, N]; K and M at most 128, N at most 512; the result is [M, N] float32 in PSUM
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param transpose_x? boolean
---@return nki.Tensor
function nl.matmul(x, y, transpose_x) end

---A tile in which axes of size 1 are repeated to shape, materialised.
---x: a tile, shape: its shape with axes of size 1 enlarged
---@param x nki.Tensor
---@param shape integer[]
---@param dtype? string
---@return nki.Tensor
function nl.broadcast_to(x, shape, dtype) end

---A view with a further axis of size 1.
---x: any tensor; axis counts from 0 in the result, negative from its end; a view, nothing is moved
---@param x nki.Tensor
---@param axis integer|integer[]
---@return nki.Tensor
function nl.expand_dims(x, axis) end

---x where condition is not zero, else y; x and y are tiles or numbers.
---condition, x, y: tiles of one shape; x, y may be numbers
---@param condition nki.Tensor
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.where(condition, x, y, dtype) end

---x + y
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.add(x, y, dtype) end

---x - y
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.subtract(x, y, dtype) end

---x * y
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.multiply(x, y, dtype) end

---x / y (simulator only: no instruction divides)
---x, y: as nl.add takes them
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.divide(x, y, dtype) end

---The larger of x and y, NaN if either is NaN.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.maximum(x, y, dtype) end

---The smaller of x and y, NaN if either is NaN.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.minimum(x, y, dtype) end

---The operand of larger magnitude, y on a tie.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.abs_max(x, y, dtype) end

---The operand of smaller magnitude, y on a tie.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.abs_min(x, y, dtype) end

---x ^ y, on GpSimd.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.power(x, y, dtype) end

---Remainder with the sign of y (simulator only).
---x, y: as nl.add takes them
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.mod(x, y, dtype) end

---Remainder with the sign of x (simulator only).
---x, y: as nl.add takes them
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.fmod(x, y, dtype) end

---1 where x == y, else 0, in the dtype of the operands.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.equal(x, y, dtype) end

---1 where x ~= y, else 0.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.not_equal(x, y, dtype) end

---1 where x < y, else 0.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.less(x, y, dtype) end

---1 where x <= y, else 0.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.less_equal(x, y, dtype) end

---1 where x > y, else 0.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.greater(x, y, dtype) end

---1 where x >= y, else 0.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.greater_equal(x, y, dtype) end

---1 where both are nonzero, else 0.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.logical_and(x, y, dtype) end

---1 where either is nonzero, else 0.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.logical_or(x, y, dtype) end

---1 where exactly one is nonzero, else 0.
---x, y: tiles with the same partitions, free axes equal or 1; one of them may be a number. The result has the promoted dtype, in SBUF
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.logical_xor(x, y, dtype) end

---Bits of x and y.
---x, y: integer tiles of one dtype; one of them may be an integer
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.bitwise_and(x, y, dtype) end

---Bits of x or y.
---x, y: integer tiles of one dtype; one of them may be an integer
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.bitwise_or(x, y, dtype) end

---Bits of x xor y.
---x, y: integer tiles of one dtype; one of them may be an integer
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.bitwise_xor(x, y, dtype) end

---x shifted left by y bits.
---x, y: integer tiles, y in bits; one of them may be an integer
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.left_shift(x, y, dtype) end

---x shifted right by y bits, zeros enter.
---x, y: integer tiles, y in bits; one of them may be an integer
---@param x nki.Tensor
---@param y nki.Tensor|number
---@param dtype? string
---@return nki.Tensor
function nl.right_shift(x, y, dtype) end

---Bits of x inverted.
---x: an integer tile
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.invert(x, dtype) end

---1 where x is zero, else 0.
---x: a tile on chip
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.logical_not(x, dtype) end

----x
---x: a tile on chip
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.negative(x, dtype) end

---1 / x, on the Vector engine.
---x: a tile on chip
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.reciprocal(x, dtype) end

---|x|
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.abs(x, dtype) end

---x * x
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.square(x, dtype) end

----1, 0 or 1
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.sign(x, dtype) end

---e ^ x
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.exp(x, dtype) end

---Natural logarithm.
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.log(x, dtype) end

---Square root.
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.sqrt(x, dtype) end

---1 / sqrt(x)
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.rsqrt(x, dtype) end

---Hyperbolic tangent.
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.tanh(x, dtype) end

---1 / (1 + exp(-x))
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.sigmoid(x, dtype) end

---The larger of x and 0.
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.relu(x, dtype) end

---x/2 (1 + erf(x / sqrt 2))
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.gelu(x, dtype) end

---Derivative of gelu.
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.gelu_dx(x, dtype) end

---gelu through tanh.
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.gelu_apprx_tanh(x, dtype) end

---x sigmoid(1.702 x)
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.gelu_apprx_sigmoid(x, dtype) end

---Derivative of gelu_apprx_sigmoid.
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.gelu_apprx_sigmoid_dx(x, dtype) end

---x sigmoid(x)
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.silu(x, dtype) end

---Derivative of silu.
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.silu_dx(x, dtype) end

---ln(1 + e^x)
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.softplus(x, dtype) end

---x tanh(softplus(x))
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.mish(x, dtype) end

---Error function.
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.erf(x, dtype) end

---2 / sqrt(pi) exp(-x^2)
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.erf_dx(x, dtype) end

---Inverse tangent.
---x: a tile on chip; computed in float32, the result has x's dtype (float32 for integers), in SBUF
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.arctan(x, dtype) end

---Sine of any argument (range reduction included; one step in the simulator).
---x: a tile on chip
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.sin(x, dtype) end

---Cosine of any argument (one step in the simulator).
---x: a tile on chip
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.cos(x, dtype) end

---Tangent of any argument (one step in the simulator).
---x: a tile on chip
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.tan(x, dtype) end

---Rounds towards +inf (one step in the simulator).
---x: a tile on chip
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.ceil(x, dtype) end

---Rounds towards -inf (one step in the simulator).
---x: a tile on chip
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.floor(x, dtype) end

---Rounds towards 0 (one step in the simulator).
---x: a tile on chip
---@param x nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.trunc(x, dtype) end

---Sum over trailing free axes, in f32.
---x: a tile; axis: trailing free axes, counted from 0 or from the end; partitions are not reduced
---@param x nki.Tensor
---@param axis integer|integer[]
---@param dtype? string
---@param keepdims? boolean
---@return nki.Tensor
function nl.sum(x, axis, dtype, keepdims) end

---Product over trailing free axes, in f32.
---x: a tile; axis: trailing free axes, counted from 0 or from the end; partitions are not reduced
---@param x nki.Tensor
---@param axis integer|integer[]
---@param dtype? string
---@param keepdims? boolean
---@return nki.Tensor
function nl.prod(x, axis, dtype, keepdims) end

---Largest element over trailing free axes.
---x: a tile; axis: trailing free axes, counted from 0 or from the end; partitions are not reduced
---@param x nki.Tensor
---@param axis integer|integer[]
---@param dtype? string
---@param keepdims? boolean
---@return nki.Tensor
function nl.max(x, axis, dtype, keepdims) end

---Smallest element over trailing free axes.
---x: a tile; axis: trailing free axes, counted from 0 or from the end; partitions are not reduced
---@param x nki.Tensor
---@param axis integer|integer[]
---@param dtype? string
---@param keepdims? boolean
---@return nki.Tensor
function nl.min(x, axis, dtype, keepdims) end

---Mean over trailing free axes; f32 for integer tiles.
---x: a tile; axis: trailing free axes, counted from 0 or from the end
---@param x nki.Tensor
---@param axis integer|integer[]
---@param dtype? string
---@param keepdims? boolean
---@return nki.Tensor
function nl.mean(x, axis, dtype, keepdims) end

---Population variance over trailing free axes; keeps its axes always.
---x: a tile; axis: trailing free axes, counted from 0 or from the end
---@param x nki.Tensor
---@param axis integer|integer[]
---@param dtype? string
---@param keepdims? boolean
---@return nki.Tensor
function nl.var(x, axis, dtype, keepdims) end

---1 where every element over trailing free axes is nonzero, else 0.
---x: a tile; axis: trailing free axes, counted from 0 or from the end; partitions are not reduced
---@param x nki.Tensor
---@param axis integer|integer[]
---@param dtype? string
---@return nki.Tensor
function nl.all(x, axis, dtype) end

---The slice [start, start + size); start may be a register or an index value.
---start: an integer, a register or an index value; size: an integer, in elements
---@param start any
---@param size integer
---@return nki.Slice
function nl.ds(start, size) end

---Index of this program along a grid axis; 0 without a grid.
---axis: of the grid, from 0
---@param axis? integer|integer[]
---@return integer
function nl.program_id(axis) end

---Programs along a grid axis, or the product over a list of axes; 1 without a grid.
---axes: one axis or a list of them, from 0
---@param axes? any
---@return integer
function nl.num_programs(axes) end

---A grid axis of one program on each of so many physical cores (gen3 and later); nl.nc(n) * k and k * nl.nc(n) are nl.spmd_dim.
---cores: how many physical cores
---@param cores any
---@return nki.Axis
function nl.nc(cores) end

---A grid axis of k programs per core: spmd_dim(nl.nc(n), k) in blocks of k, spmd_dim(k, nl.nc(n)) in turn.
---outer, inner: nl.nc(n) and a number of programs per core, in either order
---@param outer any
---@param inner any
---@return nki.Axis
function nl.spmd_dim(outer, inner) end

---Number of grid axes; 0 without a grid.
---@return integer
function nl.program_ndim() end

---A traced loop whose iterations are independent.
---start, stop, step: integers; with one argument 0 .. start - 1. The index is a plain integer
---@param start any
---@param stop? any
---@param step? integer
---@return fun(): integer
function nl.affine_range(start, stop, step) end

---A traced loop in order.
---start, stop, step: integers; with one argument 0 .. start - 1. The index is a plain integer
---@param start any
---@param stop? any
---@param step? integer
---@return fun(): integer
function nl.sequential_range(start, stop, step) end

---A traced loop in order.
---start, stop, step: integers; with one argument 0 .. start - 1. The index is a plain integer
---@param start any
---@param stop? any
---@param step? integer
---@return fun(): integer
function nl.static_range(start, stop, step) end

---A loop on the device: its body is traced once, its index is a register.
---start, stop, step: integers or registers; the index is a register
---@param start any
---@param stop? any
---@param step? integer
---@return fun(): integer
function nl.dynamic_range(start, stop, step) end

---A loop on the device: body_fun(i) for lower <= i < upper.
---lower, upper: integers or registers; body_fun(i) gets a register
---@param lower any
---@param upper any
---@param body_fun function
---@param step? integer
function nl.fori_loop(lower, upper, body_fun, step) end

---A loop on the device: while r ~= 0, r = body_fun(r).
---init: a register; body_fun(r) gives the next value
---@param init any
---@param body_fun function
function nl.while_loop(init, body_fun) end

---Keeps the order of the instructions of a block: `local _ <close> = nl.no_reorder()` or nl.no_reorder(fn).
---body_fun: called at once; without it the block ends where the value is closed
---@param body_fun? function
---@return any
function nl.no_reorder(body_fun) end

---Prints a tensor at run time.
---print_prefix: a string; tensor: any
---@param print_prefix any
---@param tensor any
function nl.device_print(print_prefix, tensor) end

---Is it an HBM memory?
---buffer: a memory, or its name
---@param buffer nki.Memory
---@return boolean
function nl.is_hbm(buffer) end

---Is it SBUF or PSUM?
---buffer: a memory, or its name
---@param buffer nki.Memory
---@return boolean
function nl.is_on_chip(buffer) end

---Is it SBUF?
---buffer: a memory, or its name
---@param buffer nki.Memory
---@return boolean
function nl.is_sbuf(buffer) end

---Is it PSUM?
---buffer: a memory, or its name
---@param buffer nki.Memory
---@return boolean
function nl.is_psum(buffer) end

---exp(x - max) / sum over trailing free axes (default: the last). compute_dtype: of the exponentials, float32 when it is not given.
---x: a tile; axis: trailing free axes, counted from 0 or from the end
---@param x nki.Tensor
---@param axis? integer|integer[]
---@param dtype? string
---@param compute_dtype? string
---@return nki.Tensor
function nl.softmax(x, axis, dtype, compute_dtype) end

---x / sqrt(sum(x^2) / n + epsilon) * w over trailing free axes; epsilon is 1e-6 when it is not given.
---x: a tile; w: of x's shape, or with one partition; n: how many elements are averaged, a positive number
---@param x nki.Tensor
---@param w nki.Tensor
---@param axis integer|integer[]
---@param n integer
---@param epsilon? any
---@param dtype? string
---@param compute_dtype? string
---@return nki.Tensor
function nl.rms_norm(x, w, axis, n, epsilon, dtype, compute_dtype) end

---A tensor of uniform random numbers in [0, 1).
---shape: sizes, partition axis first
---@param shape integer[]
---@param dtype string
---@param buffer? nki.Memory
---@param name? string
---@return nki.Tensor
function nl.rand(shape, dtype, buffer, name) end

---Seeds the Vector engine's generator with a (1,1) tile of 32-bit integers.
---seed: a (1,1) tile of 32-bit integers
---@param seed any
function nl.random_seed(seed) end

---x with elements set to 0 with probability rate, a number or one value per partition; not rescaled.
---x: a tile; rate: a number or a (P,1) tile
---@param x nki.Tensor
---@param rate number|nki.Tensor
---@param dtype? string
---@return nki.Tensor
function nl.dropout(x, rate, dtype) end

---out[p, ...] = data[p] flattened, at indices[p, ...] (uint32).
---data: [P, ...]; indices: [P, ...] uint32, in elements of one partition of data
---@param data nki.Tensor
---@param indices nki.Tensor
---@param axis? integer|integer[]
---@param dtype? string
---@return nki.Tensor
function nl.gather_flattened(data, indices, axis, dtype) end

---An n x n identity in SBUF (uint8 unless dtype says otherwise). Made outside loops it is made once for each n and dtype: do not write to it.
---n: 1 to 128 partitions and elements; dst: (n,n)
---@param n integer
---@param dtype? string
---@param dst? nki.Tensor
---@return nki.Tensor
function nl.shared_identity_matrix(n, dtype, dst) end

---A tensor in HBM with the elements of a host array, a nested list of numbers or an .npy file; the program carries it.
---constant: a host array, a nested list of numbers, or the name of an .npy file; dtype float32 for lists
---@param constant any
---@param dtype? string
---@return nki.Tensor
function nl.shared_constant(constant, dtype) end

---Classic: the index expression 0 .. start - 1, or start .. stop - 1; it takes axes: nl.arange(128)[":, None"].
---start, stop: integers
---@param start any
---@param stop? any
---@return nki.Index
function nl.arange(start, stop) end

---Classic: nl.mgrid["0:128, 0:512"] is a grid of index expressions with the fields p, x, y, z, w and the method unpack.
---1 to 5 ranges of integers
---@return nki.Index
function nl.mgrid() end

---Classic: marks the partition axis in a shape; axes before it are block axes.
---size: at most 128 partitions
---@param size integer
---@return any
function nl.par_dim(size) end

---Classic: the fold of x by op over the iterations of the innermost loops, whose indices are loop_indices.
---x: a tile; op: an operator; loop_indices: those of the innermost loops
---@param x nki.Tensor
---@param op any
---@param loop_indices any
---@param dtype? string
---@return nki.Tensor
function nl.loop_reduce(x, op, loop_indices, dtype) end

---Classic: dst = dst + value in HBM, rows picked by a tile of indices; op is nl.add.
---dst: a view of HBM with a tile of row numbers; value: a tile; op: nl.add
---@param dst nki.Tensor
---@param value any
---@param op any
---@param mask? any
function nl.atomic_rmw(dst, value, op, mask) end

---Classic: max, min, eps, smallest_normal (also tiny) and dtype of a float type.
---dtype: a float type
---@param dtype string
---@return any
function nl.finfo(dtype) end

---Classic: a number as dtype holds it, or an array converted.
---input_data: a number or a host array
---@param input_data any
---@param dtype string
---@return any
function nl.static_cast(input_data, dtype) end

---Classic: the index grid of a matmul's moving operand, 128 x 512.
---@return nki.Index
function nl.gemm_grid() end

---Classic: the index grid of a matmul's stationary operand, 128 x 128.
---@return nki.Index
function nl.gemm_stationary_grid() end

---The memory of tiles that engines read and write: 128 partitions.
---@type any
nl.sbuf = nil

---The memory that the Tensor engine writes: 128 partitions of 8 banks of 2048 bytes.
---@type any
nl.psum = nil

---Device memory of one program.
---@type any
nl.private_hbm = nil

---Device memory that all programs of a grid see: operands and results of kernels are there.
---@type any
nl.shared_hbm = nil

---nl.private_hbm
---@type any
nl.hbm = nil

---The memories by name.
---@type any
nl.MemoryRegion = nil

---Limits of the target, read inside a kernel; its fields are those of nl._TileSize.
---@type any
nl.tile_size = nil

---The class of nl.tile_size; a call gives nl.tile_size.
---nl._TileSize()
---@return any
function nl._TileSize(...) end

---Classic: the field min is the least float32.
---@type any
nl.fp32 = nil

---Classic: the field min stands below every bfloat16: -inf.
---@type any
nl.bfp16 = nil

---The class of dtypes, which are strings: a call gives the name itself, or an error for another string.
---nl.DType(name)
---@return any
function nl.DType(...) end

---A class of records compared field by field; nl.NKIObject.extend makes classes with defaults and methods.
---@type any
nl.NKIObject = nil

---The class of tensors: a declaration, or a view of storage; methods are functions too: nl.NkiTensor.reshape(t, shape).
---nl.NkiTensor(shape, dtype, [storage], [buffer])
---@return any
function nl.NkiTensor(...) end

---Operator: a (no operation; activate2 only)
nl.bypass = nil

---Operator: mean (tensor_partition_reduce only)
nl.average = nil

---Activation: x where x > 0 else relu_param * x
nl.prelu = nil

---truth value in one byte, 0 or 1
nl.bool_ = "bool_"

---unsigned 8-bit
nl.uint8 = "uint8"

---signed 8-bit, two's complement
nl.int8 = "int8"

---unsigned 16-bit
nl.uint16 = "uint16"

---signed 16-bit
nl.int16 = "int16"

---unsigned 32-bit
nl.uint32 = "uint32"

---signed 32-bit
nl.int32 = "int32"

---IEEE single, 1-8-23
nl.float32 = "float32"

---1-8-7, the upper half of float32
nl.bfloat16 = "bfloat16"

---IEEE half, 1-5-10
nl.float16 = "float16"

---1-8-10 kept in four bytes
nl.tfloat32 = "tfloat32"

---1-4-3 with inf and NaN, largest finite 240
nl.float8_e4m3 = "float8_e4m3"

---1-5-2 with inf and NaN, largest finite 57344
nl.float8_e5m2 = "float8_e5m2"

---1-4-3 without inf, largest finite 448
nl.float8_e4m3fn = "float8_e4m3fn"

---power-of-two scale 2^(b-127), 0xFF is NaN
nl.float8_e8m0fnu = "float8_e8m0fnu"

---four float8_e5m2, element 0 in the lowest byte
nl.float8_e5m2_x4 = "float8_e5m2_x4"

---four float8_e4m3fn, element 0 in the lowest byte
nl.float8_e4m3fn_x4 = "float8_e4m3fn_x4"

---four float4_e2m1fn, element 0 in the lowest nibble
nl.float4_e2m1fn_x4 = "float4_e2m1fn_x4"

return nl
