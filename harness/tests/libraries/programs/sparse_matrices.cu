// What cuSPARSE makes of sparse matrices: conversions, triangular systems, factors, products of two of them, in all
// types, bases and widths of indices, against the definition. Prints a line for each, and the same on a GPU.
#include "sparse_values.h"

template <typename T>
void dense_forms(const char* letter) {
  for (const cusparseFormat_t format : kFormats) {
    each_form(format, [&](Form form) {
      for (const cusparseOrder_t order : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
        Sparse<T> a(form, kM, kN);
        DenseMatrix<T> dense(kM, kN, order);
        Buffer buffer, another;
        call(cusparseSparseToDense_bufferSize(handle, a.descriptor, dense.descriptor,
                                              CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &buffer.size));
        call(cusparseSparseToDense(handle, a.descriptor, dense.descriptor, CUSPARSE_SPARSETODENSE_ALG_DEFAULT,
                                   buffer.get()));
        const auto result = dense.array.down();
        for (int row = 0; row < kM; ++row) {
          for (int column = 0; column < kN; ++column) {
            compare(Type<T>::wide(result[dense.place(row, column)]), a.at(row, column));
          }
        }
        // The dense matrix becomes sparse again, in the same memory.
        cudaMemset(a.device_values, 0, a.values.size() * sizeof(T));
        cudaMemset(a.device_first, 0, a.first.size() * (form.wide ? 8 : 4));
        cudaMemset(a.device_second, 0, a.second.size() * (form.wide ? 8 : 4));
        call(cusparseDenseToSparse_bufferSize(handle, dense.descriptor, a.descriptor,
                                              CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &another.size));
        call(cusparseDenseToSparse_analysis(handle, dense.descriptor, a.descriptor, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                            another.get()));
        int64_t rows = 0, columns = 0, count = 0;
        call(cusparseSpMatGetSize(a.descriptor, &rows, &columns, &count));
        compare(static_cast<double>(count), static_cast<double>(a.values.size()));
        call(cusparseDenseToSparse_convert(handle, dense.descriptor, a.descriptor, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                           another.get()));
        const auto values = download(a.device_values, a.values.size());
        for (size_t i = 0; i < values.size(); ++i) compare(Type<T>::wide(values[i]), Type<T>::wide(a.values[i]));
        const auto indices = [&](const void* device, const std::vector<int64_t>& expected) {
          for (size_t i = 0; i < expected.size(); ++i) {
            const double found = form.wide ? static_cast<double>(download((const int64_t*)device + i, 1)[0])
                                           : static_cast<double>(download((const int*)device + i, 1)[0]);
            compare(found, static_cast<double>(expected[i]));
          }
        };
        indices(a.device_first, a.first);
        indices(a.device_second, a.second);
      }
    });
    tell((std::string("SparseToDense, DenseToSparse ") + format_name(format)).c_str(), letter, 0);
  }
}

template <typename T>
void turned_storage(const char* letter) {
  for (const int base : {0, 1}) {
    for (const cusparseAction_t action : {CUSPARSE_ACTION_NUMERIC, CUSPARSE_ACTION_SYMBOLIC}) {
      Sparse<T> a(Form{CUSPARSE_FORMAT_CSR, false, base}, kM, kN);
      const int count = static_cast<int>(a.values.size());
      const auto index_base = base == 1 ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
      T* const values = upload(std::vector<T>(count, Type<T>::narrow(7)));
      int *const offsets = upload(std::vector<int>(kN + 1, -1)), *const rows = upload(std::vector<int>(count, -1));
      int* const expanded = upload(std::vector<int>(count, -1));
      Buffer buffer;
      call(cusparseCsr2cscEx2_bufferSize(handle, kM, kN, count, a.device_values, (int*)a.device_first,
                                         (int*)a.device_second, values, offsets, rows, kData<T>, action, index_base,
                                         CUSPARSE_CSR2CSC_ALG_DEFAULT, &buffer.size));
      call(cusparseCsr2cscEx2(handle, kM, kN, count, a.device_values, (int*)a.device_first, (int*)a.device_second,
                              values, offsets, rows, kData<T>, action, index_base, CUSPARSE_CSR2CSC_ALG_DEFAULT,
                              buffer.get()));
      const auto v = download(values, count);
      const auto o = download(offsets, kN + 1), r = download(rows, count);
      int at = 0;
      for (int column = 0; column < kN; ++column) {
        compare(o[column], at + base);
        for (int row = 0; row < kM; ++row) {
          if (a.at(row, column) == Z(0)) continue;
          compare(r[at], row + base);
          compare(Type<T>::wide(v[at]), action == CUSPARSE_ACTION_NUMERIC ? a.at(row, column) : Z(7));
          ++at;
        }
      }
      compare(o[kN], at + base);
      call(cusparseXcsr2coo(handle, (int*)a.device_first, count, kM, expanded, index_base));
      const auto e = download(expanded, count);
      for (int i = 0, row = 0; i < count; ++i) {
        while (a.first[row + 1] - base <= i) ++row;
        compare(e[i], row + base);
      }
      int* const packed = upload(std::vector<int>(kM + 1, -1));
      call(cusparseXcoo2csr(handle, expanded, count, kM, packed, index_base));
      const auto p = download(packed, kM + 1);
      for (int i = 0; i <= kM; ++i) compare(p[i], static_cast<double>(a.first[i]));
      for (void* memory : {(void*)values, (void*)offsets, (void*)rows, (void*)expanded, (void*)packed})
        cudaFree(memory);
    }
  }
  tell("Csr2cscEx2, Xcsr2coo, Xcoo2csr", letter, 0);
}

// A's triangle as solutions read it.
template <typename T>
Z triangle(const Sparse<T>& a, int op, int row, int column, bool lower, bool unit) {
  const int i = op == 0 ? row : column, j = op == 0 ? column : row;
  if (i == j && unit) return 1;
  if (lower ? i < j : i > j) return 0;
  return a.turned(op, row, column);
}

template <typename T>
void triangular_systems(const char* letter) {
  for (const cusparseFormat_t format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO}) {
    for (int op = 0; op < kOperationCount<T>; ++op) {
      each_form(format, [&](Form form) {
        for (const bool lower : {false, true}) {
          for (const bool unit : {false, true}) {
            // Both triangles are stored; one counts.
            Sparse<T> a(form, kN, kN,
                        [](int row, int column, double chance) { return row == column || chance < -0.5; });
            cusparseFillMode_t fill = lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
            cusparseDiagType_t diagonal = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
            call(cusparseSpMatSetAttribute(a.descriptor, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
            call(cusparseSpMatSetAttribute(a.descriptor, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
            DenseVector<T> x(kN), y(kN);
            const Factor<T> alpha({0.75, -0.5});
            cusparseSpSVDescr_t plan;
            Buffer buffer;
            call(cusparseSpSV_createDescr(&plan));
            call(cusparseSpSV_bufferSize(handle, kOperations[op], alpha.get(), a.descriptor, x.descriptor, y.descriptor,
                                         kData<T>, CUSPARSE_SPSV_ALG_DEFAULT, plan, &buffer.size));
            call(cusparseSpSV_analysis(handle, kOperations[op], alpha.get(), a.descriptor, x.descriptor, y.descriptor,
                                       kData<T>, CUSPARSE_SPSV_ALG_DEFAULT, plan, buffer.get()));
            call(cusparseSpSV_solve(handle, kOperations[op], alpha.get(), a.descriptor, x.descriptor, y.descriptor,
                                    kData<T>, CUSPARSE_SPSV_ALG_DEFAULT, plan));
            const auto result = y.array.down();
            for (int row = 0; row < kN; ++row) {
              Z sum = 0;
              for (int k = 0; k < kN; ++k) sum += triangle(a, op, row, k, lower, unit) * Type<T>::wide(result[k]);
              compare(sum, alpha.value() * x.array.at(row), 1000);
            }
            call(cusparseSpSV_destroyDescr(plan));
            for (const cusparseOrder_t order : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW}) {
              DenseMatrix<T> b(kN, kK, order), c(kN, kK, order);
              cusparseSpSMDescr_t many;
              Buffer room;
              call(cusparseSpSM_createDescr(&many));
              call(cusparseSpSM_bufferSize(handle, kOperations[op], kOperations[0], alpha.get(), a.descriptor,
                                           b.descriptor, c.descriptor, kData<T>, CUSPARSE_SPSM_ALG_DEFAULT, many,
                                           &room.size));
              call(cusparseSpSM_analysis(handle, kOperations[op], kOperations[0], alpha.get(), a.descriptor,
                                         b.descriptor, c.descriptor, kData<T>, CUSPARSE_SPSM_ALG_DEFAULT, many,
                                         room.get()));
              call(cusparseSpSM_solve(handle, kOperations[op], kOperations[0], alpha.get(), a.descriptor, b.descriptor,
                                      c.descriptor, kData<T>, CUSPARSE_SPSM_ALG_DEFAULT, many));
              const auto solved = c.array.down();
              for (int row = 0; row < kN; ++row) {
                for (int column = 0; column < kK; ++column) {
                  Z sum = 0;
                  for (int k = 0; k < kN; ++k) {
                    sum += triangle(a, op, row, k, lower, unit) * Type<T>::wide(solved[c.place(k, column)]);
                  }
                  compare(sum, alpha.value() * b.at(row, column), 1000);
                }
              }
              call(cusparseSpSM_destroyDescr(many));
            }
          }
        }
      });
      tell((std::string("SpSV, SpSM ") + format_name(format) + " " + kOperationNames[op]).c_str(), letter,
           Type<T>::kExact);
    }
  }
}

// Which values a solution uses: those at the analysis, at an update, or at the solution itself.
static void changed_values() {
  Sparse<float> a(Form{}, 3, 3, [](int row, int column, double) { return row == column; });
  const auto set = [&](float value) { return upload(std::vector<float>(3, value)); };
  float *const twos = set(2), *const fours = set(4), *const eights = set(8);
  float* const x_values = set(16);
  float* const y_values = set(0);
  cusparseDnVecDescr_t x, y;
  cusparseCreateDnVec(&x, 3, x_values, CUDA_R_32F);
  cusparseCreateDnVec(&y, 3, y_values, CUDA_R_32F);
  cudaMemcpy(a.device_values, twos, 12, cudaMemcpyDeviceToDevice);
  cusparseSpSVDescr_t plan;
  Buffer buffer;
  const float one = 1;
  cusparseSpSV_createDescr(&plan);
  const auto solve = [&](const char* name) {
    const int status = cusparseSpSV_solve(handle, kOperations[0], &one, a.descriptor, x, y, CUDA_R_32F,
                                          CUSPARSE_SPSV_ALG_DEFAULT, plan);
    std::printf("SpSV %s %d: %g\n", name, status, (double)download(y_values, 1)[0]);
  };
  cusparseSpSV_bufferSize(handle, kOperations[0], &one, a.descriptor, x, y, CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, plan,
                          &buffer.size);
  const int analysed = cusparseSpSV_analysis(handle, kOperations[0], &one, a.descriptor, x, y, CUDA_R_32F,
                                             CUSPARSE_SPSV_ALG_DEFAULT, plan, buffer.get());
  std::printf("analysis %d\n", analysed);
  solve("of twos");
  cudaMemcpy(a.device_values, fours, 12, cudaMemcpyDeviceToDevice);
  solve("of twos that were made fours");
  std::printf("update %d\n", (int)cusparseSpSV_updateMatrix(handle, plan, eights, CUSPARSE_SPSV_UPDATE_GENERAL));
  solve("updated to eights");
  std::printf("update %d\n", (int)cusparseSpSV_updateMatrix(handle, plan, twos, CUSPARSE_SPSV_UPDATE_DIAGONAL));
  solve("updated to a diagonal of twos");
  cusparseSpSV_destroyDescr(plan);
  cusparseDestroyDnVec(x);
  cusparseDestroyDnVec(y);
  for (float* memory : {twos, fours, eights, x_values, y_values}) cudaFree(memory);
}

// C = alpha A B + beta C, where C has the places of the product.
template <typename T>
void sparse_products(const char* letter) {
  for (const cusparseSpGEMMAlg_t algorithm : {CUSPARSE_SPGEMM_DEFAULT, CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2}) {
    for (const int base : {0, 1}) {
      Sparse<T> a(Form{CUSPARSE_FORMAT_CSR, false, base}, kM, kN), b(Form{CUSPARSE_FORMAT_CSR, false, base}, kN, kM);
      const auto index_base = base == 1 ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
      const Factor<T> alpha({0.75, -0.5}), beta(Z(0));
      int* const offsets = upload(std::vector<int>(kM + 1, 0));
      cusparseSpMatDescr_t c;
      call(cusparseCreateCsr(&c, kM, kM, 0, offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                             index_base, kData<T>));
      cusparseSpGEMMDescr_t plan;
      Buffer first, second, third;
      call(cusparseSpGEMM_createDescr(&plan));
      const auto estimate = [&](void* buffer) {
        call(cusparseSpGEMM_workEstimation(handle, kOperations[0], kOperations[0], alpha.get(), a.descriptor,
                                           b.descriptor, beta.get(), c, kData<T>, algorithm, plan, &first.size,
                                           buffer));
      };
      estimate(nullptr);
      estimate(first.get());
      if (algorithm == CUSPARSE_SPGEMM_ALG2) {
        call(cusparseSpGEMM_estimateMemory(handle, kOperations[0], kOperations[0], alpha.get(), a.descriptor,
                                           b.descriptor, beta.get(), c, kData<T>, algorithm, plan, 0.5f, &third.size,
                                           nullptr, nullptr));
        call(cusparseSpGEMM_estimateMemory(handle, kOperations[0], kOperations[0], alpha.get(), a.descriptor,
                                           b.descriptor, beta.get(), c, kData<T>, algorithm, plan, 0.5f, &third.size,
                                           third.get(), &second.size));
      }
      const auto compute = [&](void* buffer) {
        call(cusparseSpGEMM_compute(handle, kOperations[0], kOperations[0], alpha.get(), a.descriptor, b.descriptor,
                                    beta.get(), c, kData<T>, algorithm, plan, &second.size, buffer));
      };
      if (algorithm != CUSPARSE_SPGEMM_ALG2) compute(nullptr);
      compute(second.get());
      int64_t products = 0, expected_products = 0;
      call(cusparseSpGEMM_getNumProducts(plan, &products));
      std::vector<int> expected_offsets(1, base), expected_columns;
      std::vector<Z> expected;
      for (int row = 0; row < kM; ++row) {
        for (int column = 0; column < kM; ++column) {
          Z sum = 0;
          int count = 0;
          for (int k = 0; k < kN; ++k) {
            if (a.at(row, k) != Z(0) && b.at(k, column) != Z(0)) sum += a.at(row, k) * b.at(k, column), ++count;
          }
          expected_products += count;
          if (count == 0) continue;
          expected_columns.push_back(column + base);
          expected.push_back(alpha.value() * sum);
        }
        expected_offsets.push_back(static_cast<int>(expected.size()) + base);
      }
      if (algorithm != CUSPARSE_SPGEMM_DEFAULT) compare((double)products, (double)expected_products);
      int64_t rows = 0, columns = 0, count = 0;
      call(cusparseSpMatGetSize(c, &rows, &columns, &count));
      compare((double)count, (double)expected.size());
      if (count == (int64_t)expected.size()) {
        int* const indices = upload(std::vector<int>(count, -1));
        T* const values = upload(std::vector<T>(count));
        call(cusparseCsrSetPointers(c, offsets, indices, values));
        call(cusparseSpGEMM_copy(handle, kOperations[0], kOperations[0], alpha.get(), a.descriptor, b.descriptor,
                                 beta.get(), c, kData<T>, algorithm, plan));
        const auto o = download(offsets, kM + 1), i = download(indices, count);
        const auto v = download(values, count);
        for (int row = 0; row <= kM; ++row) compare(o[row], expected_offsets[row]);
        for (int64_t k = 0; k < count; ++k) {
          compare(i[k], expected_columns[k]);
          compare(Type<T>::wide(v[k]), expected[k], 10);
        }
        cudaFree(indices);
        cudaFree(values);
      }
      call(cusparseSpGEMM_destroyDescr(plan));
      cusparseDestroySpMat(c);
      cudaFree(offsets);
    }
    tell(("SpGEMM " + std::to_string(algorithm)).c_str(), letter, Type<T>::kExact);
  }
}

// C = alpha A B + beta C, computed only at the places that C has.
template <typename T>
void sampled_products(const char* letter) {
  for (int op_a = 0; op_a < 2; ++op_a) {
    for (int op_b = 0; op_b < 2; ++op_b) {
      each_form(CUSPARSE_FORMAT_CSR, [&](Form form) {
        Sparse<T> c(form, kM, kN);
        DenseMatrix<T> a(op_a == 0 ? kM : kK, op_a == 0 ? kK : kM, CUSPARSE_ORDER_ROW),
            b(op_b == 0 ? kK : kN, op_b == 0 ? kN : kK, CUSPARSE_ORDER_COL);
        const Factor<T> alpha({0.75, -0.5}), beta({-1.25, 0.25});
        Buffer buffer;
        call(cusparseSDDMM_bufferSize(handle, kOperations[op_a], kOperations[op_b], alpha.get(), a.descriptor,
                                      b.descriptor, beta.get(), c.descriptor, kData<T>, CUSPARSE_SDDMM_ALG_DEFAULT,
                                      &buffer.size));
        call(cusparseSDDMM_preprocess(handle, kOperations[op_a], kOperations[op_b], alpha.get(), a.descriptor,
                                      b.descriptor, beta.get(), c.descriptor, kData<T>, CUSPARSE_SDDMM_ALG_DEFAULT,
                                      buffer.get()));
        call(cusparseSDDMM(handle, kOperations[op_a], kOperations[op_b], alpha.get(), a.descriptor, b.descriptor,
                           beta.get(), c.descriptor, kData<T>, CUSPARSE_SDDMM_ALG_DEFAULT, buffer.get()));
        const auto values = download(c.device_values, c.values.size());
        size_t at = 0;
        for (int row = 0; row < kM; ++row) {
          for (int column = 0; column < kN; ++column) {
            if (c.at(row, column) == Z(0)) continue;
            Z sum = 0;
            for (int k = 0; k < kK; ++k) {
              sum += (op_a == 0 ? a.at(row, k) : a.at(k, row)) * (op_b == 0 ? b.at(k, column) : b.at(column, k));
            }
            compare(Type<T>::wide(values[at++]), alpha.value() * sum + beta.value() * c.at(row, column), 10);
          }
        }
      });
      tell((std::string("SDDMM ") + kOperationNames[op_a] + kOperationNames[op_b]).c_str(), letter, Type<T>::kExact);
    }
  }
}

// The differences between LU and Cholesky factors.
struct Lu {
  using Info = csrilu02Info_t;
  static constexpr const char* kName = "csrilu02";
  static constexpr int kRows = 9;
  static constexpr auto kPolicy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
  static constexpr auto kCreate = cusparseCreateCsrilu02Info;
  static constexpr auto kDestroy = cusparseDestroyCsrilu02Info;
  static constexpr auto kPivot = cusparseXcsrilu02_zeroPivot;
  // Element (row, k) of the first factor and element (k, column) of the second.
  static Z left(const std::vector<Z>& all, int row, int k) { return k == row ? Z(1) : all[row + kRows * k]; }
  static Z right(const std::vector<Z>& all, int k, int column) { return all[k + kRows * column]; }
  static bool counts(int, int) { return true; }
};
// Only the lower triangle counts, as the matrix is Hermitian.
struct Cholesky {
  using Info = csric02Info_t;
  static constexpr const char* kName = "csric02";
  static constexpr int kRows = 5;
  static constexpr auto kPolicy = CUSPARSE_SOLVE_POLICY_NO_LEVEL;
  static constexpr auto kCreate = cusparseCreateCsric02Info;
  static constexpr auto kDestroy = cusparseDestroyCsric02Info;
  static constexpr auto kPivot = cusparseXcsric02_zeroPivot;
  static Z left(const std::vector<Z>& all, int row, int k) { return all[row + kRows * k]; }
  static Z right(const std::vector<Z>& all, int k, int column) { return std::conj(all[column + kRows * k]); }
  static bool counts(int row, int column) { return column <= row; }
};

// Incomplete factors; if all elements of the matrix are stored, they are complete.
template <typename T, typename Kind, typename Size, typename Analysis, typename Factors>
void incomplete(const char* letter, Size size, Analysis analysis, Factors factors) {
  constexpr int n = Kind::kRows;
  for (const int base : {0, 1}) {
    for (const bool full : {true, false}) {
      Sparse<T> a(Form{CUSPARSE_FORMAT_CSR, false, base}, n, n,
                  [&](int row, int column, double chance) { return full || row == column || chance < -0.4; });
      cusparseMatDescr_t description;
      typename Kind::Info info;
      call(cusparseCreateMatDescr(&description));
      call(cusparseSetMatIndexBase(description, base == 1 ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO));
      call(Kind::kCreate(&info));
      int bytes = 0, pivot = 7;
      const int count = static_cast<int>(a.values.size());
      int *const offsets = (int*)a.device_first, *const columns = (int*)a.device_second;
      call(size(handle, n, count, description, a.device_values, offsets, columns, info, &bytes));
      Buffer buffer;
      buffer.size = bytes;
      call(analysis(handle, n, count, description, a.device_values, offsets, columns, info, Kind::kPolicy,
                    buffer.get()));
      call(
          factors(handle, n, count, description, a.device_values, offsets, columns, info, Kind::kPolicy, buffer.get()));
      call(Kind::kPivot(handle, info, &pivot));
      compare(pivot, -1);
      const auto values = download(a.device_values, count);
      std::vector<Z> all(n * n);
      for (int row = 0; row < n; ++row) {
        for (int64_t i = a.first[row] - base; i < a.first[row + 1] - base; ++i) {
          const int column = static_cast<int>(a.second[i]) - base;
          if (Kind::counts(row, column)) {
            all[row + n * column] = Type<T>::wide(values[i]);
          } else {
            compare(Type<T>::wide(values[i]), a.at(row, column));
          }
        }
      }
      for (int row = 0; row < n; ++row) {
        for (int column = 0; column < n; ++column) {
          if (!Kind::counts(row, column) || a.at(row, column) == Z(0)) continue;
          Z sum = 0;
          for (int k = 0; k <= std::min(row, column); ++k) sum += Kind::left(all, row, k) * Kind::right(all, k, column);
          compare(sum, a.at(row, column), 10);
        }
      }
      call(Kind::kDestroy(info));
      call(cusparseDestroyMatDescr(description));
    }
  }
  tell(Kind::kName, letter, Type<T>::kExact);
}

// Matrices that have no factors.
static void zero_pivots() {
  const std::vector<int> offsets = {0, 2, 4, 5}, columns = {0, 1, 0, 1, 0};
  int *const d_offsets = upload(offsets), *const d_columns = upload(columns);
  float* const d_values = upload(std::vector<float>{1, 1, 1, 1, 1});
  cusparseMatDescr_t description;
  csrilu02Info_t info;
  cusparseCreateMatDescr(&description);
  cusparseCreateCsrilu02Info(&info);
  int bytes = 0, pivot = 7;
  for (const int n : {2, 3}) {
    const int count = offsets[n];
    cusparseScsrilu02_bufferSize(handle, n, count, description, d_values, d_offsets, d_columns, info, &bytes);
    Buffer buffer;
    buffer.size = bytes;
    const int analysed = cusparseScsrilu02_analysis(handle, n, count, description, d_values, d_offsets, d_columns, info,
                                                    CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer.get());
    int status = cusparseXcsrilu02_zeroPivot(handle, info, &pivot);
    std::printf("csrilu02 of %d rows: analysis %d, then %d at %d\n", n, analysed, status, pivot);
    if (n == 3) break;
    cusparseScsrilu02(handle, n, count, description, d_values, d_offsets, d_columns, info,
                      CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer.get());
    status = cusparseXcsrilu02_zeroPivot(handle, info, &pivot);
    std::printf("factors %d at %d\n", status, pivot);
  }
  cusparseDestroyCsrilu02Info(info);
  cusparseDestroyMatDescr(description);
  cudaFree(d_offsets);
  cudaFree(d_columns);
  cudaFree(d_values);
}

#define LOCKSTEP_INCOMPLETE(S, T, Kind, name) \
  incomplete<T, Kind>(#S, cusparse##S##name##_bufferSize, cusparse##S##name##_analysis, cusparse##S##name)

int main() {
  call(cusparseCreate(&handle));
  LOCKSTEP_EACH(dense_forms);
  LOCKSTEP_EACH(turned_storage);
  LOCKSTEP_EACH(triangular_systems);
  changed_values();
  LOCKSTEP_EACH(sparse_products);
  LOCKSTEP_EACH(sampled_products);
  LOCKSTEP_INCOMPLETE(S, float, Lu, csrilu02);
  LOCKSTEP_INCOMPLETE(D, double, Lu, csrilu02);
  LOCKSTEP_INCOMPLETE(C, cuComplex, Lu, csrilu02);
  LOCKSTEP_INCOMPLETE(Z, cuDoubleComplex, Lu, csrilu02);
  LOCKSTEP_INCOMPLETE(S, float, Cholesky, csric02);
  LOCKSTEP_INCOMPLETE(D, double, Cholesky, csric02);
  LOCKSTEP_INCOMPLETE(C, cuComplex, Cholesky, csric02);
  LOCKSTEP_INCOMPLETE(Z, cuDoubleComplex, Cholesky, csric02);
  zero_pivots();
  std::printf("left %d\n", cudaDeviceSynchronize());
  cusparseDestroy(handle);
}
