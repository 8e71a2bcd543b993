"func.func"() ({
^bb0(%a: memref<8x16xf32, "shared_hbm">, %rows: memref<8x1xi32, "shared_hbm">):
  %c0 = "arith.constant"() {value = 0 : index} : () -> index
  %c1 = "arith.constant"() {value = 1 : index} : () -> index
  %c4 = "arith.constant"() {value = 4 : index} : () -> index
  %shared_hbm_2 = "nki.view"(%a) {name = "shared_hbm_2"} : (memref<8x16xf32, "shared_hbm">) -> memref<8x16xi32, "shared_hbm"> loc("k.lua":10:0)
  %shared_hbm_3 = "nki.const"() {name = "shared_hbm_3", value = dense<"0x0000803F00000040"> : tensor<1x2xf32>} : () -> memref<1x2xf32, "shared_hbm"> loc("k.lua":4:0)
  %shared_hbm_4 = "nki.alloc"() {name = "shared_hbm_4"} : () -> memref<8x16xf32, "shared_hbm"> loc("k.lua":4:0)
  %shared_hbm_5 = "nki.view"(%shared_hbm_4) {name = "shared_hbm_5"} : (memref<8x16xf32, "shared_hbm">) -> memref<8x16xi32, "shared_hbm"> loc("k.lua":10:0)
  %here = "nki.alloc"() {address = [0, 1024], name = "here"} : () -> memref<8x16xf32, "sbuf"> loc("k.lua":6:0)
  %sbuf_1 = "nki.view"(%here) {name = "sbuf_1"} : (memref<8x16xf32, "sbuf">) -> memref<8x16xi32, "sbuf"> loc("k.lua":8:0)
  "nisa.dma_copy"(%here, %a) : (memref<8x16xf32, "sbuf">, memref<8x16xf32, "shared_hbm">) -> () loc("k.lua":7:0)
  "nisa.tensor_scalar"(%sbuf_1, %sbuf_1) {name = "label", op0 = "add", operand0 = 0.0, roles = ["dst", "data"]} : (memref<8x16xi32, "sbuf">, memref<8x16xi32, "sbuf">) -> () loc("k.lua":9:0)
  %sbuf_2 = "nki.alloc"() {name = "sbuf_2"} : () -> memref<8x16xi32, "sbuf"> loc("k.lua":10:0)
  "nisa.dma_copy"(%sbuf_2, %shared_hbm_2) : (memref<8x16xi32, "sbuf">, memref<8x16xi32, "shared_hbm">) -> () loc("k.lua":10:0)
  "nisa.dma_copy"(%shared_hbm_5, %sbuf_2) : (memref<8x16xi32, "shared_hbm">, memref<8x16xi32, "sbuf">) -> () loc("k.lua":10:0)
  %sbuf_3 = "nki.alloc"() {name = "sbuf_3"} : () -> memref<8x1xi32, "sbuf"> loc("k.lua":11:0)
  "nisa.dma_copy"(%sbuf_3, %rows) : (memref<8x1xi32, "sbuf">, memref<8x1xi32, "shared_hbm">) -> () loc("k.lua":11:0)
  "nisa.dma_copy"(%here, %a, %sbuf_3) {ap = [[], [0, [16, 8], [1, 16]], []], ap_max = [0, 112, 0], indirect_dim = 0, roles = ["dst", "src", "src.vector_offset"]} : (memref<8x16xf32, "sbuf">, memref<8x16xf32, "shared_hbm">, memref<8x1xi32, "sbuf">) -> () loc("k.lua":12:0)
  "nisa.dma_copy"(%shared_hbm_4, %here) : (memref<8x16xf32, "shared_hbm">, memref<8x16xf32, "sbuf">) -> () loc("k.lua":13:0)
  "scf.for"(%c0, %c4, %c1) ({
  ^bb0(%i0: index):
    %sbuf_4 = "nki.alloc"() {name = "sbuf_4"} : () -> memref<1x16xf32, "sbuf"> loc(callsite("k.lua":15:0 at "k.lua":14:0))
    %i1 = "nki.idx"(%i0) {c = [32], k = 16} : (index) -> index loc(callsite("k.lua":16:0 at "k.lua":14:0))
    "nisa.dma_copy"(%sbuf_4, %a, %i1) {ap = [[], [0, [16, 1], [1, 16]]], ap_max = [0, 112]} : (memref<1x16xf32, "sbuf">, memref<8x16xf32, "shared_hbm">, index) -> () loc(callsite("k.lua":16:0 at "k.lua":14:0))
    %i2 = "nki.idx"(%i0) {c = [16]} : (index) -> index loc(callsite("k.lua":17:0 at "k.lua":14:0))
    "nisa.dma_copy"(%shared_hbm_4, %i2, %sbuf_4) {ap = [[0, [16, 1], [1, 16]], []], ap_max = [112, 0]} : (memref<8x16xf32, "shared_hbm">, index, memref<1x16xf32, "sbuf">) -> () loc(callsite("k.lua":17:0 at "k.lua":14:0))
    "scf.yield"() : () -> () loc("k.lua":14:0)
  }) {nki.range = "dynamic"} : (index, index, index) -> () loc("k.lua":14:0)
  %reg_0 = "nki.alloc"() {name = "reg_0"} : () -> memref<i32, "reg"> loc("k.lua":19:0)
  "nisa.register_move"(%reg_0) {roles = ["dst"], src = 4} : (memref<i32, "reg">) -> () loc("k.lua":19:0)
  "scf.while"() ({
    %i3 = "nki.reg_read"(%reg_0) : (memref<i32, "reg">) -> index
    %more = "arith.cmpi"(%i3, %c0) {predicate = 1} : (index, index) -> i1
    "scf.condition"(%more) : (i1) -> ()
  }, {
    %i4 = "nki.reg_read"(%reg_0) : (memref<i32, "reg">) -> index loc(callsite("k.lua":19:0 at "k.lua":19:0))
    %i5 = "nki.idx"(%i4) {c = [16], k = 16} : (index) -> index loc(callsite("k.lua":19:0 at "k.lua":19:0))
    "nisa.dma_copy"(%here, %a, %i5) {ap = [[0, [16, 1], [1, 16]], [0, [16, 1], [1, 16]]], ap_max = [0, 112]} : (memref<8x16xf32, "sbuf">, memref<8x16xf32, "shared_hbm">, index) -> () loc(callsite("k.lua":19:0 at "k.lua":19:0))
    %i6 = "nki.reg_read"(%reg_0) : (memref<i32, "reg">) -> index loc(callsite("k.lua":19:0 at "k.lua":19:0))
    %i7 = "nki.idx"(%i6) {c = [1], k = -1} : (index) -> index loc("k.lua":19:0)
    "nisa.register_move"(%i7, %reg_0) {index_args = ["src"], roles = ["dst"]} : (index, memref<i32, "reg">) -> () loc("k.lua":19:0)
    "scf.yield"() : () -> () loc("k.lua":19:0)
  }) : () -> () loc("k.lua":19:0)
  %sbuf_5 = "nki.alloc"() {name = "sbuf_5"} : () -> memref<1x2xf32, "sbuf"> loc("k.lua":20:0)
  %sbuf_6 = "nki.view"(%sbuf_5) {name = "sbuf_6"} : (memref<1x2xf32, "sbuf">) -> memref<1x2xi32, "sbuf"> loc("k.lua":21:0)
  "nisa.dma_copy"(%sbuf_5, %shared_hbm_3) : (memref<1x2xf32, "sbuf">, memref<1x2xf32, "shared_hbm">) -> () loc("k.lua":20:0)
  "nisa.iota"(%sbuf_6) {offset = 2, pattern = [[1, 2]]} : (memref<1x2xi32, "sbuf">) -> () loc("k.lua":21:0)
  "nisa.dma_copy"(%shared_hbm_4, %sbuf_5) {ap = [[32, [1, 2]], []]} : (memref<8x16xf32, "shared_hbm">, memref<1x2xf32, "sbuf">) -> () loc("k.lua":22:0)
  %private_hbm_0 = "nki.alloc"() {name = "private_hbm_0"} : () -> memref<8x16xf32, "private_hbm"> loc("k.lua":23:0)
  "ncc.all_reduce"(%a, %private_hbm_0) {op = "add", replica_group = [[0, 1]], roles = ["dsts", "srcs"]} : (memref<8x16xf32, "shared_hbm">, memref<8x16xf32, "private_hbm">) -> () loc("k.lua":24:0)
  "func.return"(%shared_hbm_4, %a) : (memref<8x16xf32, "shared_hbm">, memref<8x16xf32, "shared_hbm">) -> ()
}) {function_type = (memref<8x16xf32, "shared_hbm">, memref<8x1xi32, "shared_hbm">) -> (memref<8x16xf32, "shared_hbm">, memref<8x16xf32, "shared_hbm">), nki.aliases = [[0, 1]], nki.args = ["a", "rows"], nki.grid = [], nki.outputs = ["output_0", "a"], nki.result_is_sequence = true, nki.target = "trn2", nki.version = 1, sym_name = "all"} : () -> ()
