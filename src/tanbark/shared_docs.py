"""Parts of docstrings that several functions or classes share.

A line such as ``{n_jobs}`` in a docstring stands for the text in `_SHARED`; `insert_shared_docs` inserts it. A text
may contain such lines, too.
"""

from __future__ import annotations

import inspect
import re
from functools import cached_property
from types import FunctionType
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Any)

_SHARED = {
    "parameters": """
        parameters : {"dirichlet", "ml", "softened", "laplace", "m"}, default="dirichlet"
            The estimator of the probability tables: see `tanbark.parameters.tree_tables`.
        """,
    "encoder": """
        encoder : Encoder, Schema or None, default=None
            Converts the table to codes. None means ``Encoder()``; a Schema is used as it is.
        """,
    "n_jobs": """
        n_jobs : int or None, default=None
            The number of threads, as in scikit-learn: None means one, -1 all.
        """,
    "random_state": """
        random_state : int, RandomState or None, default=0
            The seed of the values that are sampled for rows with too many missing values to marginalise exactly. They
            are sampled once, so that the answer for a row does not change.
        """,
    "verbose": """
        verbose : bool, default=False
            Whether to show progress on stderr.
        """,
    "fitted": """
        model_ : Model
            The fitted model; the other attributes are views of it.
        classes_ : array of shape (classes,)
            The classes, in the order of the columns of `predict_proba`.
        class_log_prior_ : array of shape (classes,)
            The log prior probability of each class.
        counts_ : Counts
            The counts that the model was learned from.
        schema_ : Schema
            The columns with their levels or cut points.
        {columns_seen}
        """,
    "network": """
        network_ : Network
            The learned network.
        """,
    # Classifiers: parameters and attributes
    "ess_1": """
        ess : float, default=1.0
            Equivalent sample size of the Dirichlet prior; also N0 of "softened" and m of "m".
        """,
    "ess_10": """
        ess : float, default=10.0
            Equivalent sample size of the Dirichlet prior; also N0 of "softened" and m of "m".
        """,
    "family_parameters": """
        parameters : {"dirichlet", "ml", "softened", "laplace", "m"}, default="dirichlet"
            The estimator of the probability tables: see `tanbark.parameters.tree_tables`. A table is estimated from the
            rows without missing values in its family, except for Dirichlet parameters given the class and at most one
            attribute, which are estimated as in `TAN`.
        """,
    "prior_encoder_n_jobs": """
        class_prior : array of shape (classes,), dict, "uniform" or None, default=None
            Class probabilities to use instead of the learned ones: in the order of `classes_`, or by class. "uniform"
            gives all classes the same.
        {class_weight}
        {encoder}
        {n_jobs}
        """,
    "class_prior_ratio": """
        class_prior : array of shape (classes,), dict, "uniform" or None, default=None
            Class probabilities to use instead of the learned ones, by whose ratio posteriors are multiplied: in the
            order of `classes_`, or by class. "uniform" gives all classes the same.
        """,
    "class_weight": """
        class_weight : dict, "balanced" or None, default=None
            The factor by which the weight of each row is multiplied, by class; classes that a dict does not name have
            the factor 1. "balanced" gives all classes the same total weight, ``n_rows / n_classes``; it needs all rows
            at once, so that it is not available for `partial_fit`. Probabilities are those of the reweighted data.
        """,
    "prior_encoder_n_jobs_seed": """
        {prior_encoder_n_jobs}
        {random_state}
        """,
    "tree_parameters": """
        {parameters}
        {ess_10}
        {prior_encoder_n_jobs}
        """,
    "search_parameters": """
        criterion : {"bdeu", "bds", "bic", "aic", "k2", "cmdl"}, default="bdeu"
            The score to maximise: see `tanbark.scores`. "cmdl" is not a sum over families and is always searched
            greedily.
        {family_parameters}
        ess : float, default=10.0
            Equivalent sample size of the criterion and of the Dirichlet prior; also N0 of "softened" and m of "m".
            Published experiments with the BDeu score often use 1, with which probabilities are usually worse.
        max_parents : int, default=None
            The maximum number of parents of a node, including the class; None means no limit.
        forbidden, required : lists of pairs (parent, child) of names, default=()
            Edges that must not or must be included, by the names that `network_` uses: those of the columns, or x0, x1
            and so on if they have none; for the class the name of `y`, or "class" if it has none.
        max_memory : float, default=None
            The maximum number of bytes that an exact search may use; None means most of the free memory. A search that
            needs more is refused before it starts.
        tabu : int, default=10
            The number of recent structures to which a greedy search does not return, and the number of steps without
            improvement after which it stops; 0 is plain hill climbing.
        restarts : int, default=0
            The number of times a greedy search climbs again, from the best structure so far after random changes.
        {verbose}
        {prior_encoder_n_jobs}
        random_state : int, RandomState or None, default=0
            The seed of restarts, and of the values that are sampled for rows with too many missing values to
            marginalise exactly. They are sampled once, so that the answer for a row does not change.
        """,
    "searched_network": """
        {network}
        log_score_ : float
            The score of the structure in nats; higher is better. Missing values count as a level. After an exact search
            no structure has a higher score.
        search_ : {"exact", "greedy"}
            The search that was used.
        {fitted}
        """,
    "sample_options": """
        n : int, default=1
            The number of rows.
        random_state : int, numpy.random.Generator or None, default=None
            The seed, which gives the same rows each time, or a generator. None gives other rows in each call.
        as_frame : {None, "pandas", "polars", "pyarrow"}, default=None
            The type of the table: None returns arrays; "pandas" and "polars" a data frame and a series; "pyarrow" a
            table and an array. Numbers, text and dates have their own types in a table, and the parts of a date are
            left out, since they follow from it.

        Returns
        -------
        X : array of shape (n, attributes), or table
            Numbers are sampled uniformly from their interval; the outer intervals end at the minimum and maximum of
            the training data.
        y : array of shape (n,), or series
            The classes.
        """,
    "columns_seen": """
        n_features_in_ : int
            The number of columns.
        feature_names_in_ : array of str
            The names of the columns, if they have any.
        """,
    # Schemas
    "n_jobs_to_codes": """
        n_jobs : int, default=None
            Number of threads. None uses one thread, -1 all processors.

        Returns
        -------
        codes : ndarray of shape (n_features, n_samples)
            The codes, with one row per column of the table.
        """,
    "read_table_to_codes": """
        Parameters
        ----------
        table : Table
            A table that has been read.
        {n_jobs_to_codes}
        """,
    # Counts
    "encoded_rows": """
        schema : Schema
            The schema that encoded the rows.
        codes : ndarray of shape (n_attributes, n_rows)
            Output of ``schema.encode``.
        """,
    "counting_options": """
        encoder : Encoder, default=None
            Settings for learning the schema; None uses ``Encoder()``.
        ignore : sequence of str, default=()
            Columns to leave out of the learned schema.
        order : {1, 2}, default=2
            1 counts single values, 2 also counts pairs of values.
        """,
    "data_frame_counting": """
        target : str
            Name of the class column. Rows without a class are dropped with a warning.
        schema : Schema, default=None
            The columns to count and the classes. None learns the schema from the data.
        {counting_options}

        Returns
        -------
        counts : Counts
        """,
    # Probability tables, scores and inference
    "counts_and_estimator": """
        Parameters
        ----------
        counts : Counts
        parameters : {"ml", "softened", "dirichlet", "laplace", "m"}
            The estimator; a key of `PARAMETERS`.
        ess : float
            Equivalent sample size.
        """,
    "node_and_parents": """
        node : int
            The node.
        parents : sequence of int
            Its parents.
        """,
    "edge_gains": """
        Parameters
        ----------
        asked : array of shape (nodes, nodes)
            The edges whose gains are needed.

        Returns
        -------
        array of shape (nodes, nodes)
            The gains; those that were not asked for may be NaN.
        """,
    "inference_options": """
        Parameters
        ----------
        codes : ndarray of shape (n_attributes, n_rows)
            Output of ``schema.encode``.
        n_jobs : int, default=None
            Number of threads, as in scikit-learn.
        max_table : int, default=2**20
            Maximum number of cells of a table in exact inference; beyond it, missing values are sampled.
        seed : int, default=0
            Seed of the samples.
        """,
    # Datasets
    # Evaluation.
    "metric_parameters": """
        Parameters
        ----------
        truth : array of shape (rows,)
            The true class of each row, as an index into the columns of `log_probabilities`.
        log_probabilities : array of shape (rows, classes)
        weights : array of shape (rows,), default=None
            The weights of the rows; None gives each row weight 1.
        """,
    "metric_parameter": """
        Parameters
        ----------
        metric : str
            One of `tanbark.evaluate.METRICS`.
        """,
    "ranking_metric": """
        metric : str, default="log_loss"
            One of `tanbark.evaluate.METRICS`.
        """,
    "compared_models": """
        models : mapping of str to classifier, or sequence of str
            Classifiers of tanbark or scikit-learn, which are cloned, or names from `candidate_names`.
        X : array, data frame or Arrow table of shape (rows, attributes)
        y : array or series of shape (rows,)
        """,
    "folds_and_repeats": """
        folds : int, default=10
            Number of folds.
        repeats : int, default=1
            How many times the cross-validation is repeated with other folds.
        """,
    "groups": """
        groups : array or series of shape (rows,), default=None
            The group of each row, for example the patient it is about. The rows of a group are always in the same fold,
            so that a classifier is tested on groups it has not seen. The folds are stratified and of equal size as far
            as the groups allow. None means that every row is a group of its own.
        """,
    "evaluation_weights": """
        sample_weight : array of shape (rows,), default=None
            The weights of the rows, by which both learning and metrics are weighted; rows of weight zero are dropped.
            The folds have equally many rows, not equal weights.
        """,
    "results_to_svg": """
        Parameters
        ----------
        results : mapping of str to CrossValidation

        Returns
        -------
        str
            An SVG element.
        """,
    # Export.
    "output_path": """
        path : path-like, default=None
            The file to write. If None, no file is written.
        """,
    "network_export": """
        Parameters
        ----------
        model : Network or classifier
            A network, or a fitted classifier that consists of one network.
        path : path-like, default=None
            The file to write. If None, no file is written.

        Returns
        -------
        str
            The text of the file.

        Raises
        ------
        ValueError
            If the classifier is not a single network, or has too many probabilities.

        See Also
        --------
        read_bif, read_xmlbif : Read a network from a file.
        """,
    "network_file": """
        Parameters
        ----------
        source : path-like or file object
            The file.
        class_name : str, default=None
            The variable that is the class. If None, the variable that tanbark marked as the class.

        Returns
        -------
        Network

        Raises
        ------
        NetworkFileError
            If the file does not describe a valid network. The message names the file and the line.

        See Also
        --------
        bif, xmlbif : Export a network.
        """,
}

_METHOD_TYPES = (FunctionType, property, cached_property, classmethod, staticmethod)
_PLACEHOLDER = re.compile(r"^(?P<indent> *)\{(?P<name>\w+)\}$", re.MULTILINE)


def completed(docstring: str) -> str:
    """Replace lines such as ``{encoder}`` in a docstring by the shared texts; other lines in braces stay as they are.

    >>> print(completed("    {n_jobs}").splitlines()[0])
        n_jobs : int or None, default=None
    """

    def text(found: re.Match[str]) -> str:
        if found["name"] not in _SHARED:
            return found[0]
        lines = completed(inspect.cleandoc(_SHARED[found["name"]])).splitlines()
        return "\n".join(f"{found['indent']}{line}".rstrip() for line in lines)

    return _PLACEHOLDER.sub(text, docstring)


def insert_shared_docs(thing: Documented) -> Documented:
    """Insert the shared texts into the docstring of a function, or of a class and its methods.

    It can be used as a decorator.
    """
    members = vars(thing).values() if isinstance(thing, type) else ()
    methods = [member for member in members if isinstance(member, _METHOD_TYPES) or hasattr(member, "__wrapped__")]
    for documented in (thing, *methods):
        # The function inside a class method or a decorated method has a docstring of its own.
        for inner in (documented, getattr(documented, "__wrapped__", None)):
            docstring = getattr(inner, "__doc__", None)
            if docstring and _PLACEHOLDER.search(docstring):
                inner.__doc__ = completed(docstring)
    return thing
