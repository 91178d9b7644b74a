// What cuSPARSE computes: products of sparse matrices with dense vectors and matrices, sparse vectors, mixed types, in
// all formats, operations, bases and widths of indices, against sums in double precision by the definition. Prints a
// line for each, "SpMV csr N S ok", and the same on a GPU.
#include "sparse_values.h"

template <typename T>
void spmv(const char* letter) {
  for (const cusparseFormat_t format : kFormats) {
    for (int op = 0; op < kOperationCount<T>; ++op) {
      each_form(format, [&](Form form) {
        for (const cusparseSpMVAlg_t algorithm :
             {CUSPARSE_SPMV_ALG_DEFAULT,
              format == CUSPARSE_FORMAT_COO ? CUSPARSE_SPMV_COO_ALG2 : CUSPARSE_SPMV_CSR_ALG2}) {
          Sparse<T> a(form, kM, kN);
          const int to = op == 0 ? kM : kN, from = op == 0 ? kN : kM;
          DenseVector<T> x(from), y(to);
          const Factor<T> alpha({0.75, -0.5}), beta({-1.25, 0.25});
          Buffer buffer;
          call(cusparseSpMV_bufferSize(handle, kOperations[op], alpha.get(), a.descriptor, x.descriptor, beta.get(),
                                       y.descriptor, kData<T>, algorithm, &buffer.size));
          call(cusparseSpMV_preprocess(handle, kOperations[op], alpha.get(), a.descriptor, x.descriptor, beta.get(),
                                       y.descriptor, kData<T>, algorithm, buffer.get()));
          call(cusparseSpMV(handle, kOperations[op], alpha.get(), a.descriptor, x.descriptor, beta.get(), y.descriptor,
                            kData<T>, algorithm, buffer.get()));
          const auto result = y.array.down();
          for (int i = 0; i < to; ++i) {
            Z sum = 0;
            for (int j = 0; j < from; ++j) sum += a.turned(op, i, j) * x.array.at(j);
            compare(Type<T>::wide(result[i]), alpha.value() * sum + beta.value() * y.array.at(i), 10);
          }
        }
      });
      tell((std::string("SpMV ") + format_name(format) + " " + kOperationNames[op]).c_str(), letter, Type<T>::kExact);
    }
  }
}

template <typename T>
void spmm_batches(cusparseFormat_t format, const char* letter) {
  constexpr int kBatches = 3;
  Sparse<T> a(Form{format}, kM, kN);
  // The same places with other values in each batch.
  std::vector<T> values;
  std::vector<int> first, second;
  for (int batch = 0; batch < kBatches; ++batch) {
    for (const T& value : a.values) values.push_back(Type<T>::narrow(Type<T>::wide(value) * Z(batch + 1)));
    for (const int64_t index : a.first) first.push_back(static_cast<int>(index));
    for (const int64_t index : a.second) second.push_back(static_cast<int>(index));
  }
  T* const all = upload(values);
  int *const all_first = upload(first), *const all_second = upload(second);
  if (format == CUSPARSE_FORMAT_COO) {
    call(cusparseCooSetPointers(a.descriptor, all_first, all_second, all));
    call(cusparseCooSetStridedBatch(a.descriptor, kBatches, a.values.size()));
  } else {
    call(cusparseCsrSetPointers(a.descriptor, all_first, all_second, all));
    call(cusparseCsrSetStridedBatch(a.descriptor, kBatches, a.first.size(), a.values.size()));
  }
  DenseMatrix<T> b(kN, kK, CUSPARSE_ORDER_COL, kBatches), c(kM, kK, CUSPARSE_ORDER_COL, kBatches);
  const Factor<T> alpha({0.75, -0.5}), beta({-1.25, 0.25});
  Buffer buffer;
  const auto algorithm = format == CUSPARSE_FORMAT_COO ? CUSPARSE_SPMM_COO_ALG4 : CUSPARSE_SPMM_CSR_ALG2;
  call(cusparseSpMM_bufferSize(handle, kOperations[0], kOperations[0], alpha.get(), a.descriptor, b.descriptor,
                               beta.get(), c.descriptor, kData<T>, algorithm, &buffer.size));
  call(cusparseSpMM(handle, kOperations[0], kOperations[0], alpha.get(), a.descriptor, b.descriptor, beta.get(),
                    c.descriptor, kData<T>, algorithm, buffer.get()));
  const auto result = c.array.down();
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int row = 0; row < kM; ++row) {
      for (int column = 0; column < kK; ++column) {
        Z sum = 0;
        for (int k = 0; k < kN; ++k) sum += a.at(row, k) * Z(batch + 1) * b.at(k, column, batch);
        compare(Type<T>::wide(result[batch * c.size() + c.place(row, column)]),
                alpha.value() * sum + beta.value() * c.at(row, column, batch), 30);
      }
    }
  }
  tell((std::string("SpMM ") + format_name(format) + " batch").c_str(), letter, Type<T>::kExact);
  cudaFree(all);
  cudaFree(all_first);
  cudaFree(all_second);
}

template <typename T>
void spmm(const char* letter) {
  for (const cusparseFormat_t format : kFormats) {
    for (int op_a = 0; op_a < kOperationCount<T>; ++op_a) {
      for (int op_b = 0; op_b < kOperationCount<T>; ++op_b) {
        each_form(format, [&](Form form) {
          for (const cusparseOrder_t order_b : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
            for (const cusparseOrder_t order_c : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
              Sparse<T> a(form, kM, kN);
              const int to = op_a == 0 ? kM : kN, from = op_a == 0 ? kN : kM;
              DenseMatrix<T> b(op_b == 0 ? from : kK, op_b == 0 ? kK : from, order_b), c(to, kK, order_c);
              const Factor<T> alpha({0.75, -0.5}), beta({-1.25, 0.25});
              Buffer buffer;
              call(cusparseSpMM_bufferSize(handle, kOperations[op_a], kOperations[op_b], alpha.get(), a.descriptor,
                                           b.descriptor, beta.get(), c.descriptor, kData<T>, CUSPARSE_SPMM_ALG_DEFAULT,
                                           &buffer.size));
              call(cusparseSpMM_preprocess(handle, kOperations[op_a], kOperations[op_b], alpha.get(), a.descriptor,
                                           b.descriptor, beta.get(), c.descriptor, kData<T>, CUSPARSE_SPMM_ALG_DEFAULT,
                                           buffer.get()));
              call(cusparseSpMM(handle, kOperations[op_a], kOperations[op_b], alpha.get(), a.descriptor, b.descriptor,
                                beta.get(), c.descriptor, kData<T>, CUSPARSE_SPMM_ALG_DEFAULT, buffer.get()));
              const auto result = c.array.down();
              for (int row = 0; row < to; ++row) {
                for (int column = 0; column < kK; ++column) {
                  Z sum = 0;
                  for (int k = 0; k < from; ++k) {
                    const Z right = op_b == 0   ? b.at(k, column)
                                    : op_b == 1 ? b.at(column, k)
                                                : std::conj(b.at(column, k));
                    sum += a.turned(op_a, row, k) * right;
                  }
                  compare(Type<T>::wide(result[c.place(row, column)]),
                          alpha.value() * sum + beta.value() * c.at(row, column), 10);
                }
              }
            }
          }
        });
        tell((std::string("SpMM ") + format_name(format) + " " + kOperationNames[op_a] + kOperationNames[op_b]).c_str(),
             letter, Type<T>::kExact);
      }
    }
  }
  spmm_batches<T>(CUSPARSE_FORMAT_CSR, letter);
  spmm_batches<T>(CUSPARSE_FORMAT_COO, letter);
}

// Sparse vectors: every third element from the second on.
template <typename T>
void sparse_vectors(const char* letter) {
  constexpr int kSize = 31, kCount = 10;
  each_form(CUSPARSE_FORMAT_CSR, [&](Form form) {
    std::vector<int> narrow;
    std::vector<int64_t> wide;
    for (int i = 0; i < kCount; ++i) narrow.push_back(3 * i + 1 + form.base), wide.push_back(narrow.back());
    int* const narrow_device = upload(narrow);
    int64_t* const wide_device = upload(wide);
    const auto create = [&](cusparseSpVecDescr_t* x, T* values) {
      call(cusparseCreateSpVec(x, kSize, kCount, form.wide ? (void*)wide_device : (void*)narrow_device, values,
                               form.wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I,
                               form.base == 1 ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO, kData<T>));
    };
    const Factor<T> alpha({0.75, -0.5}), beta({-1.25, 0.25});
    Array<T> x(kCount);
    cusparseSpVecDescr_t sparse;
    create(&sparse, x.device);
    DenseVector<T> y(kSize), z(kSize);
    for (int op = 0; op < kOperationCount<T>; op += 2) {
      Factor<T> result(Z(7));
      Buffer buffer;
      call(
          cusparseSpVV_bufferSize(handle, kOperations[op], sparse, y.descriptor, result.get(), kData<T>, &buffer.size));
      call(cusparseSpVV(handle, kOperations[op], sparse, y.descriptor, const_cast<T*>(result.get()), kData<T>,
                        buffer.get()));
      cudaDeviceSynchronize();
      Z sum = 0;
      for (int i = 0; i < kCount; ++i) sum += (op == 0 ? x.at(i) : std::conj(x.at(i))) * y.array.at(3 * i + 1);
      compare(Type<T>::wide(result.get() == &result.host ? result.host : download(result.device, 1)[0]), sum, 10);
    }
    call(cusparseAxpby(handle, alpha.get(), sparse, beta.get(), y.descriptor));
    auto after = y.array.down();
    for (int i = 0; i < kSize; ++i) {
      compare(Type<T>::wide(after[i]), (i % 3 == 1 ? alpha.value() * x.at(i / 3) : Z(0)) + beta.value() * y.array.at(i),
              2);
    }
    call(cusparseGather(handle, z.descriptor, sparse));
    after = x.down();
    for (int i = 0; i < kCount; ++i) compare(Type<T>::wide(after[i]), z.array.at(3 * i + 1));
    x.up();
    call(cusparseScatter(handle, sparse, z.descriptor));
    after = z.array.down();
    for (int i = 0; i < kSize; ++i) compare(Type<T>::wide(after[i]), i % 3 == 1 ? x.at(i / 3) : z.array.at(i));
    cusparseDestroySpVec(sparse);
    cudaFree(narrow_device);
    cudaFree(wide_device);
  });
  tell("SpVV, Axpby, Gather, Scatter", letter, Type<T>::kExact);
}

// Small whole numbers, which every type holds.
template <typename A, typename C, typename S>
void mixed(const char* name, cudaDataType a_type, cudaDataType c_type, cudaDataType compute) {
  constexpr int kRows = 9, kColumns = 12;
  std::vector<int> offsets(1, 0), columns;
  std::vector<A> values;
  std::vector<double> dense(kRows * kColumns), x_host, y_host, b_host;
  const auto whole = [] { return std::floor(random_number() * 3 + 0.5); };
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      if (random_number() > -0.2) continue;
      dense[row + column * kRows] = whole();
      columns.push_back(column);
      values.push_back(static_cast<A>(static_cast<float>(dense[row + column * kRows])));
    }
    offsets.push_back(columns.size());
  }
  std::vector<A> x, b;
  std::vector<C> y, c;
  for (int i = 0; i < kColumns; ++i) x_host.push_back(whole()), x.push_back(static_cast<A>((float)x_host.back()));
  for (int i = 0; i < kColumns * 8; ++i) b_host.push_back(whole()), b.push_back(static_cast<A>((float)b_host.back()));
  for (int i = 0; i < kRows; ++i) y_host.push_back(whole()), y.push_back(static_cast<C>((float)y_host.back()));
  c.resize(kRows * 8, static_cast<C>(1.f));
  int *const d_offsets = upload(offsets), *const d_columns = upload(columns);
  A *const d_values = upload(values), *const d_x = upload(x), *const d_b = upload(b);
  C *const d_y = upload(y), *const d_c = upload(c);
  const S alpha = 2, beta = -1;
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t x_vector, y_vector;
  cusparseDnMatDescr_t b_matrix, c_matrix;
  call(cusparseCreateCsr(&matrix, kRows, kColumns, columns.size(), d_offsets, d_columns, d_values, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, a_type));
  call(cusparseCreateDnVec(&x_vector, kColumns, d_x, a_type));
  call(cusparseCreateDnVec(&y_vector, kRows, d_y, c_type));
  call(cusparseCreateDnMat(&b_matrix, kColumns, 8, kColumns, d_b, a_type, CUSPARSE_ORDER_COL));
  call(cusparseCreateDnMat(&c_matrix, kRows, 8, kRows, d_c, c_type, CUSPARSE_ORDER_COL));
  Buffer buffer, another;
  call(cusparseSpMV_bufferSize(handle, kOperations[0], &alpha, matrix, x_vector, &beta, y_vector, compute,
                               CUSPARSE_SPMV_ALG_DEFAULT, &buffer.size));
  call(cusparseSpMV(handle, kOperations[0], &alpha, matrix, x_vector, &beta, y_vector, compute,
                    CUSPARSE_SPMV_ALG_DEFAULT, buffer.get()));
  const auto y_after = download(d_y, kRows);
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int k = 0; k < kColumns; ++k) sum += dense[row + k * kRows] * x_host[k];
    compare(static_cast<float>(y_after[row]), 2 * sum - y_host[row]);
  }
  tell("SpMV", name, 0);
  call(cusparseSpMM_bufferSize(handle, kOperations[0], kOperations[0], &alpha, matrix, b_matrix, &beta, c_matrix,
                               compute, CUSPARSE_SPMM_ALG_DEFAULT, &another.size));
  call(cusparseSpMM(handle, kOperations[0], kOperations[0], &alpha, matrix, b_matrix, &beta, c_matrix, compute,
                    CUSPARSE_SPMM_ALG_DEFAULT, another.get()));
  const auto c_after = download(d_c, kRows * 8);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < 8; ++column) {
      double sum = 0;
      for (int k = 0; k < kColumns; ++k) sum += dense[row + k * kRows] * b_host[k + column * kColumns];
      compare(static_cast<float>(c_after[row + column * kRows]), 2 * sum - 1);
    }
  }
  tell("SpMM", name, 0);
  cusparseDestroySpMat(matrix);
  cusparseDestroyDnVec(x_vector);
  cusparseDestroyDnVec(y_vector);
  cusparseDestroyDnMat(b_matrix);
  cusparseDestroyDnMat(c_matrix);
  for (void* memory :
       {(void*)d_offsets, (void*)d_columns, (void*)d_values, (void*)d_x, (void*)d_b, (void*)d_y, (void*)d_c}) {
    cudaFree(memory);
  }
}

// Entries that occur twice, in any order; NaNs where a factor is 0.
static void odd_matrices() {
  const float nan = NAN;
  const std::vector<int> rows = {0, 0, 0, 1, 2, 2}, columns = {2, 0, 2, 1, 1, 0}, offsets = {0, 3, 4, 6};
  const std::vector<float> values = {1, 2, 4, 8, 16, 32};
  int *const d_rows = upload(rows), *const d_columns = upload(columns), *const d_offsets = upload(offsets);
  float* const d_values = upload(values);
  cusparseSpMatDescr_t coo, csr, empty;
  call(cusparseCreateCoo(&coo, 3, 3, 6, d_rows, d_columns, d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                         CUDA_R_32F));
  call(cusparseCreateCsr(&csr, 3, 3, 6, d_offsets, d_columns, d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  int* const d_zeros = upload(std::vector<int>(4, 0));
  call(cusparseCreateCsr(&empty, 3, 3, 0, d_zeros, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  float* const d_x = upload(std::vector<float>{1, 10, 100});
  float* const d_nan = upload(std::vector<float>{nan, 10, 100});
  float* const d_y = upload(std::vector<float>{3, 3, 3});
  const auto run = [&](const char* name, cusparseSpMatDescr_t a, cusparseOperation_t op, float alpha, float* x_values,
                       float beta, std::vector<float> before) {
    cudaMemcpy(d_y, before.data(), 12, cudaMemcpyHostToDevice);
    cusparseDnVecDescr_t x, y;
    cusparseCreateDnVec(&x, 3, x_values, CUDA_R_32F);
    cusparseCreateDnVec(&y, 3, d_y, CUDA_R_32F);
    Buffer buffer;
    cusparseSpMV_bufferSize(handle, op, &alpha, a, x, &beta, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &buffer.size);
    const int status =
        cusparseSpMV(handle, op, &alpha, a, x, &beta, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer.get());
    const auto after = download(d_y, 3);
    std::printf("%s %d:", name, status);
    for (const float value : after) value == value ? std::printf(" %g", value) : std::printf(" nan");
    std::printf("\n");
    cusparseDestroyDnVec(x);
    cusparseDestroyDnVec(y);
  };
  for (int op = 0; op < 2; ++op) {
    run("coo twice", coo, kOperations[op], 1, d_x, 1, {3, 3, 3});
    run("csr twice", csr, kOperations[op], 1, d_x, 1, {3, 3, 3});
    run("csr empty", empty, kOperations[op], 1, d_x, 2, {3, 3, 3});
    run("csr empty without beta", empty, kOperations[op], 1, d_x, 0, {nan, 3, 3});
    run("nan in x", csr, kOperations[op], 1, d_nan, 1, {3, 3, 3});
    run("nan in x without alpha", csr, kOperations[op], 0, d_nan, 1, {3, 3, 3});
    run("nan in y", csr, kOperations[op], 1, d_x, 1, {3, nan, 3});
    run("nan in y without beta", csr, kOperations[op], 1, d_x, 0, {3, nan, 3});
  }
  for (cusparseSpMatDescr_t matrix : {coo, csr, empty}) cusparseDestroySpMat(matrix);
  for (int* memory : {d_rows, d_columns, d_offsets, d_zeros}) cudaFree(memory);
  for (float* memory : {d_values, d_x, d_nan, d_y}) cudaFree(memory);
}

int main() {
  call(cusparseCreate(&handle));
  LOCKSTEP_EACH(spmv);
  LOCKSTEP_EACH(spmm);
  LOCKSTEP_EACH(sparse_vectors);
  mixed<__half, __half, float>("half", CUDA_R_16F, CUDA_R_16F, CUDA_R_32F);
  mixed<__half, float, float>("half to single", CUDA_R_16F, CUDA_R_32F, CUDA_R_32F);
  mixed<__nv_bfloat16, __nv_bfloat16, float>("bfloat", CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F);
  mixed<__nv_bfloat16, float, float>("bfloat to single", CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F);
  mixed<signed char, int, int>("bytes", CUDA_R_8I, CUDA_R_32I, CUDA_R_32I);
  mixed<signed char, float, float>("bytes to single", CUDA_R_8I, CUDA_R_32F, CUDA_R_32F);
  mixed<float, double, double>("single to double", CUDA_R_32F, CUDA_R_64F, CUDA_R_64F);
  odd_matrices();
  std::printf("left %d\n", cudaDeviceSynchronize());
  cusparseDestroy(handle);
}
